"""infra/topology.json and host.json against the code: names, sessions, partition keys, and the arithmetic of waits."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from blueprints.fan_out_ledger import fan_out_ledger
from blueprints.process_order_operation import process_order_operation
from function_app import app
from ordering.ledgers.parts import PART_BYTES_MAX
from shared.idempotency.backoff import JITTER, Limits, wait_before_try
from shared.idempotency.engine import MESSAGE_BYTES_MAX
from shared.idempotency.messages import BODY_BYTES_MAX
from shared.settings import Settings

ROOT = Path(__file__).parents[2]
TOPOLOGY = json.loads((ROOT / "infra" / "topology.json").read_text(encoding="utf-8"))
HOST = json.loads((ROOT / "host.json").read_text(encoding="utf-8"))
QUEUES = TOPOLOGY["serviceBus"]["queues"]
ORDERS = QUEUES["orders"]
LIMITS = Limits()
CONNECTIONS = {"ServiceBusConnection": "Endpoint=sb://x;", "CosmosConnection": "AccountEndpoint=http://x;AccountKey=y;"}


def duration(text: str) -> timedelta:
    """An ISO 8601 duration of days, hours, minutes and seconds."""
    found = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", text)
    assert found is not None, text
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def test_every_queue_of_a_trigger_is_there_and_no_other() -> None:
    triggers = [json.loads(str(function)) for function in app.get_functions()]
    queues = {
        binding["queueName"]
        for trigger in triggers
        for binding in trigger["bindings"]
        if binding["type"] == "serviceBusTrigger"
    }
    assert queues == set(TOPOLOGY["serviceBus"]["queues"])


@pytest.mark.parametrize("queue", QUEUES.values(), ids=QUEUES)
def test_sessions_and_duplicate_detection_are_on(queue: dict[str, Any]) -> None:
    assert queue["requiresSession"] is True
    assert queue["requiresDuplicateDetection"] is True
    assert "defaultMessageTimeToLive" not in queue


def test_a_ledger_outlasts_what_an_order_outlasts() -> None:
    assert QUEUES["ledgers"] == ORDERS


def test_the_containers_are_those_of_the_consumers() -> None:
    documents = process_order_operation.documents
    containers = TOPOLOGY["cosmos"]["containers"]
    assert {name: container["partitionKey"] for name, container in containers.items()} == {
        documents.container: documents.partition_key,
        fan_out_ledger.container: "/ledgerId",
    }
    assert all(container["partitionKeyVersion"] == 2 for container in containers.values())
    assert all(container["defaultTtl"] == -1 for container in containers.values())
    assert TOPOLOGY["cosmos"]["database"] == Settings.from_env(CONNECTIONS).cosmos.database


def test_a_part_of_a_ledger_fits_its_queue_and_holds_the_largest_operation() -> None:
    assert QUEUES["ledgers"]["maxMessageBytes"] >= PART_BYTES_MAX + 64 * 1024
    assert PART_BYTES_MAX > BODY_BYTES_MAX + 1024


def test_a_message_and_its_event_fit_the_queue() -> None:
    assert ORDERS["maxMessageBytes"] >= BODY_BYTES_MAX * 2
    assert ORDERS["maxMessageBytes"] >= MESSAGE_BYTES_MAX + 64 * 1024


def test_a_store_call_ends_well_within_the_lock() -> None:
    assert LIMITS.store_call_seconds * 4 < duration(ORDERS["lockDuration"]).total_seconds()


def test_the_longest_delivery_ends_within_the_function_timeout() -> None:
    hours, minutes, seconds = map(int, HOST["functionTimeout"].split(":"))
    settings = Settings.from_env(CONNECTIONS)
    # The marker is read, the wait waited, the last try begins just before the end of the tries and makes three calls.
    longest = (
        LIMITS.store_call_seconds
        + LIMITS.wait_seconds_max * (1 + JITTER)
        + LIMITS.try_seconds
        + 3 * LIMITS.store_call_seconds
        + settings.settlement_seconds
    )
    assert longest == pytest.approx(4 + 121 + 5 + 12 + 10)
    assert longest * 2 < timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()


@pytest.mark.parametrize(
    ("deliveries", "crashes", "seconds", "minutes"),
    [
        (ORDERS["maxDeliveryCount"], 2, 126 + 18 * 110 - 2 * 110, 30),
        (ORDERS["local"]["maxDeliveryCount"], 0, 126 + 3 * 110, 7),
    ],
)
def test_the_deliveries_outlast_an_outage(deliveries: int, crashes: int, seconds: int, minutes: int) -> None:
    # Deliveries 2 to 7 wait 2 + 4 + 8 + 16 + 32 + 64 = 126 s, each later one 110 s; a crash wastes the longest wait.
    waits = [wait_before_try(count, limits=LIMITS, fraction=0.0) for count in range(1, deliveries + 1)]
    assert sum(waits) - crashes * LIMITS.wait_seconds_max == seconds > minutes * 60
