"""Store and broker fail in every way that a test can ask them for: each order is there once, nothing good is lost."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from samples.request_hash import message_id
from tests.e2e.clean_stack import clean_stack
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import deployed_app, until

SETTINGS = {"RETRY_WAIT_SECONDS_MAX": "0.2", "STORE_CALL_SECONDS": "1"}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    app = deployed_app(tmp_path_factory.mktemp("app"))
    with clean_stack(app, SETTINGS, "--faults") as stack, Outside.of(stack) as opened:
        yield opened


@dataclass(frozen=True)
class StoreFault:
    """A fault of the store, and what becomes of an order that meets it.

    Attributes:
        fault: as the store is asked for it.
        rule: when it comes true.
        first: how the order is settled.
    """

    fault: dict[str, object]
    rule: dict[str, object]
    first: str = "complete applied"


BATCH: dict[str, object] = {"on": "batch"}
STORE_FAULTS = {
    "fails-before": StoreFault({"type": "answer", "status": 503}, {**BATCH, "times": 2}),
    "applied-and-503": StoreFault({"type": "answer", "status": 503, "applied": True}, BATCH),
    "applied-and-408": StoreFault({"type": "answer", "status": 408, "applied": True}, BATCH),
    "applied-and-reset": StoreFault({"type": "reset", "applied": True}, BATCH),
    "reset-before": StoreFault({"type": "reset"}, BATCH),
    "applied-and-hangs": StoreFault({"type": "hang", "applied": True}, BATCH),
    "hangs": StoreFault({"type": "hang"}, BATCH),
    "applied-and-unreadable": StoreFault({"type": "reset"}, {"on": "read", "after": "batch", "times": 3}),
    "throttles": StoreFault(
        {"type": "answer", "status": 429, "retryAfterMs": 20}, {**BATCH, "times": None, "seconds": 1}
    ),
    "throttles-in-the-batch": StoreFault({"type": "answer", "status": 429, "operation": 1}, {**BATCH, "times": 3}),
    "retry-with": StoreFault({"type": "answer", "status": 449}, {**BATCH, "times": 2}),
    "moved": StoreFault({"type": "answer", "status": 410}, {**BATCH, "times": 2}),
    "denied-for-a-while": StoreFault({"type": "answer", "status": 403}, {**BATCH, "times": 2}),
    "unauthorised-for-a-while": StoreFault({"type": "answer", "status": 401}, {**BATCH, "times": 2}),
    "down-for-a-while": StoreFault({"type": "answer", "status": 500}, {"on": "item", "times": None, "seconds": 4}),
}


@pytest.mark.parametrize("name", STORE_FAULTS)
def test_an_order_that_meets_a_fault_of_the_store_is_placed_once(outside: Outside, name: str) -> None:
    case, placed = STORE_FAULTS[name], order(name)
    outside.stack.ask_for("cosmos", case.fault, partition=name, **case.rule)
    first, copy, other = message(placed), message(placed, "copy1"), message(changed(placed))
    outside.send(first, copy, other)
    # Settled from outside sees only the last delivery: a commit that is found by a redelivery is a duplicate.
    assert outside.outcome(first) in {case.first, "complete duplicate"}
    assert [outside.outcome(copy), outside.outcome(other)] == [
        "complete duplicate",
        "dead-letter RequestHashMismatch",
    ]
    assert sorted(outside.partition(name)) == sorted([name, "out:1"])
    assert outside.left_in_queue([name]) == 0


def test_409_and_then_404_is_neither_a_mismatch_nor_lost(outside: Outside) -> None:
    placed = order("behind")
    outside.stack.ask_for(
        "cosmos", {"type": "answer", "status": 404}, on="read", partition="behind", after="batch", times=4
    )
    first, copy = message(placed), message(placed, "copy1")
    outside.send(first, copy)
    assert [outside.outcome(first), outside.outcome(copy)] == ["complete applied", "complete duplicate"]


@pytest.mark.parametrize(
    ("name", "fault", "reason"),
    [
        ("full", {"type": "answer", "status": 403, "subStatus": 1014}, "PartitionFull"),
        ("full-in-the-batch", {"type": "answer", "status": 403, "subStatus": 1014, "operation": 1}, "PartitionFull"),
        ("too-large", {"type": "answer", "status": 413}, "PayloadTooLarge"),
        ("refused", {"type": "answer", "status": 400}, "StoreRejected"),
    ],
)
def test_what_no_other_try_can_help_is_dead_lettered_by_name(
    outside: Outside, name: str, fault: dict[str, object], reason: str
) -> None:
    outside.stack.ask_for("cosmos", fault, on="batch", partition=name, times=None)
    sent = message(order(name))
    outside.send(sent)
    assert outside.outcome(sent) == f"dead-letter {reason}"
    assert outside.dead_letters()[message_id(order(name))].reason == reason
    assert outside.partition(name) == {}


@pytest.mark.parametrize("fault", [{"type": "lostEcho", "applied": True}, {"type": "forgottenSettlement"}])
def test_a_settlement_that_goes_wrong_doubles_nothing(outside: Outside, fault: dict[str, object]) -> None:
    name = f"settled-{fault['type']}"
    outside.stack.ask_for("servicebus", fault)
    first = message(order(name))
    outside.send(first)
    outside.settled(str(first.message_id))
    copy = message(order(name), "copy1")
    outside.send(copy)
    if fault["type"] == "lostEcho":
        # Nobody answers the host, which holds the session until the lock is lost.
        outside.stack.ask_for("servicebus", {"type": "droppedConnections", "sessionId": name})
    assert outside.outcome(copy) == "complete duplicate"
    assert sorted(outside.partition(name)) == sorted([name, "out:1"])
    assert outside.left_in_queue([name]) == 0


@pytest.mark.parametrize("loss", ["expiredLock", "droppedConnections"])
def test_a_run_that_loses_its_lock_doubles_nothing(outside: Outside, loss: str) -> None:
    name = f"lost-{loss}"
    # The commit takes effect, and its answer never comes: the run is in the middle when the lock goes.
    outside.stack.ask_for("cosmos", {"type": "hang", "applied": True}, on="batch", partition=name)
    first, copy = message(order(name)), message(order(name), "copy1")
    outside.send(first, copy)
    until(lambda: len(outside.partition(name)) == 2, "the commit")
    queue = {"queue": "orders"} if loss == "expiredLock" else {}
    outside.stack.ask_for("servicebus", {"type": loss, "sessionId": name, **queue})
    assert outside.outcome(copy) == "complete duplicate"
    # The first run, and the redelivery that overlapped or followed it.
    until(lambda: len(outside.dispositions(str(first.message_id))) == 2, "both runs")
    counts = [entry.fields["delivery_count"] for entry in outside.dispositions(str(first.message_id))]
    assert sorted(counts) == ["1", "2"]
    assert sorted(outside.partition(name)) == sorted([name, "out:1"])
    assert outside.left_in_queue([name]) == 0


def test_a_busy_broker_is_told_and_the_same_request_works_later(outside: Outside) -> None:
    body = json.dumps(order("busy")).encode()
    outside.stack.ask_for("servicebus", {"type": "serverBusy"}, times=None, seconds=3)
    refused = outside.request("POST", "/api/orders", body)
    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    until(lambda: outside.request("POST", "/api/orders", body).status == 202, "a broker that is not busy")
    outside.settled(message_id(order("busy")))
    assert sorted(outside.partition("busy")) == ["busy", "out:1"]
