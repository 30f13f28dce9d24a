"""The process' clients: one set per event loop, made at first use, and settings that name every fault."""

import asyncio
import sys
from functools import partial

import grpc
import msgspec
import pytest

from blueprints.process_order_operation import process_order_operation
from shared import triggers
from shared.consumers import convoy_engine
from shared.idempotency.errors import ConfigurationError
from shared.idempotency.messages import to_document
from shared.runtime import Runtime, SystemClock, runtime
from shared.servicebus.binding import read_binding_data
from shared.servicebus.settlement import SettlementError
from shared.triggers import DeliverAgainError
from tests.integration.emulators import Emulator
from tests.integration.host_message import (
    LOCK_TOKEN,
    BindingData,
    data_of,
    header_of,
    properties_with,
    with_count,
    with_sections,
)
from tests.integration.order_store import new_order
from tests.integration.settlement_service import settlement_service

SERVICE_BUS = "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=secret;UseDevelopmentEmulator=true;"
# Under a bare key as MessageId, as a foreign sender may have it.
AN_ORDER = with_sections(
    header=header_of(1),
    senders=properties_with(b"\xa1\x06489434") + data_of(msgspec.json.encode(to_document(new_order("489434")))),
)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, account: Emulator) -> None:
    """Right settings: a store that is there, a broker that nothing asks."""
    monkeypatch.setenv("ServiceBusConnection", SERVICE_BUS)
    monkeypatch.setenv("CosmosConnection", account.connection_string)


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ServiceBusConnection", "CosmosConnection"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the machine's clock was asked to wait; it does not."""
    seconds: list[float] = []

    async def sleep(_: SystemClock, wait: float) -> None:
        seconds.append(wait)

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    return seconds


async def the_runtime() -> Runtime:
    return runtime()


async def close_store(clients: Runtime) -> None:
    # The worker's process ends with its clients open; a test's loop must not.
    await clients._database._client.close()


async def deliver(data: BindingData) -> None:
    """As the function `process_order_operation` does."""
    await triggers.deliver("orders", partial(convoy_engine, process_order_operation), read_binding_data(data))


@pytest.mark.usefixtures("settings")
async def test_one_loop_has_one_runtime_whoever_asks() -> None:
    first, second = await asyncio.gather(the_runtime(), asyncio.create_task(the_runtime()))
    assert first is second
    assert first.store("orders") is second.store("orders")
    assert first.sender("orders") is second.sender("orders")
    assert first.probe("orders") is second.probe("orders")
    assert first.store("orders") is not first.store("others")


@pytest.mark.usefixtures("settings")
def test_two_loops_have_two_runtimes() -> None:
    first, second = asyncio.run(the_runtime()), asyncio.run(the_runtime())
    assert first is not second


@pytest.mark.usefixtures("settings")
async def test_the_runtimes_store_reads_and_is_closed_with_its_client() -> None:
    clients = runtime()
    assert await clients.store("orders").read("nobody", "nobody") is None
    await close_store(clients)


@pytest.mark.usefixtures("no_settings")
async def test_missing_settings_are_all_named() -> None:
    with pytest.raises(ConfigurationError) as raised:
        runtime()
    assert "ServiceBusConnection: is missing" in str(raised.value)
    assert "CosmosConnection: is missing" in str(raised.value)


async def test_settings_that_are_mended_are_read_again(no_settings: None, request: pytest.FixtureRequest) -> None:
    with pytest.raises(ConfigurationError):
        runtime()
    request.getfixturevalue("settings")
    assert runtime() is runtime()


@pytest.mark.usefixtures("settings")
async def test_without_a_functions_host_nothing_is_dead_lettered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])
    with pytest.raises(ConfigurationError, match="no --functions-uri on the command line"):
        # A body that is no order: the engine dead-letters it.
        await deliver(BindingData())


@pytest.mark.usefixtures("settings")
async def test_what_cannot_be_applied_is_dead_lettered_at_the_workers_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async with settlement_service() as host:
        monkeypatch.setattr(sys, "argv", ["worker.py", "--functions-uri", f"http://{host.target}/"])
        await deliver(BindingData())
        (request,) = host.decoded
        await runtime().settlement.close()
    assert request.lock_token == LOCK_TOKEN
    assert request.reason == "InvalidMessage"
    assert request.description


@pytest.mark.usefixtures("settings")
async def test_a_dead_letter_that_is_refused_raises_or_the_host_would_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    async with settlement_service() as host:
        host.refusal = (grpc.StatusCode.UNKNOWN, "SessionLockLost")
        monkeypatch.setattr(sys, "argv", ["worker.py", "--functions-uri", f"http://{host.target}/"])
        with pytest.raises(SettlementError):
            await deliver(BindingData())
        await runtime().settlement.close()


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize(("count", "seconds"), [(1, 0.0), (2, 2.0), (3, 4.0), (7, 64.0), (8, 110.0), (25, 110.0)])
async def test_wrong_settings_do_not_use_up_the_deliveries(slept: list[float], count: int, seconds: float) -> None:
    with pytest.raises(ConfigurationError):
        await deliver(with_count(count))
    assert slept == [seconds]


async def test_a_store_that_is_gone_raises_so_that_the_host_abandons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ServiceBusConnection", SERVICE_BUS)
    monkeypatch.setenv("CosmosConnection", "AccountEndpoint=http://127.0.0.1:1/;AccountKey=c2VjcmV0;")
    monkeypatch.setenv("TRY_SECONDS", "0.1")
    with pytest.raises(DeliverAgainError, match="deliver again: "):
        await deliver(AN_ORDER)
    await close_store(runtime())
