"""What the real worker library reads out of the app: every function's bindings as the host gets them."""

import json
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio

from devstack.functions import wire
from devstack.functions.supervisor.channel import WorkerStreams
from devstack.functions.supervisor.supervisor import Supervisor
from tests.integration.emulators import TOPOLOGY
from tests.running_stack import deployed_app

type Bindings = list[dict[str, Any]]

IN, OUT = "IN", "OUT"
HTTP_ANSWER = {"name": "$return", "type": "http", "direction": OUT}


def http(route: str, method: str, auth_level: str = "FUNCTION") -> Bindings:
    trigger = {
        "name": "req",
        "type": "httpTrigger",
        "direction": IN,
        "route": route,
        "methods": [method],
        "authLevel": auth_level,
    }
    return [trigger, HTTP_ANSWER]


def timer() -> Bindings:
    return [{"name": "timer", "type": "timerTrigger", "direction": IN, "schedule": "0 * * * * *"}]


def session_queue(name: str) -> Bindings:
    return [
        {
            "name": "message",
            "type": "serviceBusTrigger",
            "direction": IN,
            "queueName": name,
            "connection": "ServiceBusConnection",
            "isSessionsEnabled": True,
            "autoCompleteMessages": True,
            "cardinality": "ONE",
            "properties": {"SupportsDeferredBinding": True},
        }
    ]


EXPECTED: dict[str, Bindings] = {
    "process_order_operation": session_queue("orders"),
    "fan_out_ledger": session_queue("ledgers"),
    "post_ledger": http("ledgers", "POST"),
    "get_ledger": http("ledgers/{ledgerId}", "GET"),
    "post_order": http("orders", "POST"),
    "get_waiting_orders": http("orders", "GET"),
    "report_waiting_orders": timer(),
    "sweep_outbox": timer(),
    "get_order": http("orders/{orderId}", "GET"),
    "get_operation": http("orders/{orderId}/operations/{operationId}", "GET"),
    "get_live": http("health/live", "GET", "ANONYMOUS"),
    "get_ready": http("health/ready", "GET"),
}


@asynccontextmanager
async def started_worker(app: Path) -> AsyncIterator[tuple[wire.FunctionMetadata, ...]]:
    """Have the app indexed by a worker process of its own, which knows no setting."""
    streams = WorkerStreams()
    endpoint = grpc.aio.server(options=wire.CHANNEL_OPTIONS)
    endpoint.add_generic_rpc_handlers((streams.handler(),))
    port = endpoint.add_insecure_port("127.0.0.1:0")
    await endpoint.start()
    supervisor = Supervisor(
        streams=streams,
        port=port,
        app=app,
        environment={"PATH": os.environ["PATH"]},
        function_timeout_seconds=None,
    )
    try:
        yield await supervisor.start()
    finally:
        await supervisor.stop()
        await endpoint.stop(None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, wire.FunctionMetadata]:
    async with started_worker(deployed_app(tmp_path_factory.mktemp("app"))) as indexed:
        assert len({function.name for function in indexed}) == len(indexed)
        return {function.name: function for function in indexed}


def bindings(function: wire.FunctionMetadata) -> Bindings:
    return [json.loads(binding) for binding in function.raw_bindings]


def test_the_functions_are_these_and_no_others(functions: dict[str, wire.FunctionMetadata]) -> None:
    assert set(functions) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_field_of_a_functions_bindings(functions: dict[str, wire.FunctionMetadata], name: str) -> None:
    assert bindings(functions[name]) == EXPECTED[name]


def test_every_queue_that_is_listened_to_is_in_the_topology_with_sessions_and_duplicate_detection(
    functions: dict[str, wire.FunctionMetadata],
) -> None:
    queues = json.loads(TOPOLOGY.read_text(encoding="utf-8"))["serviceBus"]["queues"]
    triggers = [entry for function in functions.values() for entry in bindings(function) if "queueName" in entry]
    assert {entry["queueName"] for entry in triggers} == {"orders", "ledgers"}
    for entry in triggers:
        assert queues[entry["queueName"]]["requiresSession"] is entry["isSessionsEnabled"]
        assert queues[entry["queueName"]]["requiresDuplicateDetection"] is True


def test_ids_come_from_the_names_and_so_outlive_a_worker(functions: dict[str, wire.FunctionMetadata]) -> None:
    # Source: azure-functions-runtime 1.3.0, loader.py.
    assert {name: function.function_id for name, function in functions.items()} == {
        name: str(uuid.uuid5(uuid.NAMESPACE_OID, name)) for name in EXPECTED
    }
