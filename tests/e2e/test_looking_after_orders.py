"""Timers: what is sent back leaves the outbox, what stayed is drained, what waits is told."""

from collections.abc import Iterator

import pytest

from tests.e2e.apps import impatient_app
from tests.e2e.clean_stack import clean_stack
from tests.e2e.convoys import added, amended, convoy_message
from tests.e2e.orders import message, order
from tests.e2e.outside import Outside
from tests.running_stack import until


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    app = impatient_app(tmp_path_factory.mktemp("app"))
    with clean_stack(app) as stack, Outside.of(stack) as opened:
        yield opened


def test_what_is_rejected_at_its_turn_comes_back_as_a_dead_letter(outside: Outside) -> None:
    rejected = amended("sent-back", 3, "nothing", "1")
    outside.send(
        convoy_message(rejected), message(order("sent-back")), convoy_message(added("sent-back", 2, "t2", "1"))
    )
    until(lambda: len(outside.dead_letters()) == 1, "the dead letter")
    ((message_id, letter),) = outside.dead_letters().items()
    assert letter.reason == "TransactionNotFound"
    assert message_id.startswith(f"{convoy_message(rejected).message_id}~b")
    documents = outside.partition("sent-back")
    (sent,) = [body for key, body in documents.items() if key.startswith("out:") and body["destination"] == "orders"]
    assert (sent["status"], sent["readySince"], sent["ttl"]) == ("published", None, 604800)
    assert (documents["sent-back"]["lastSequence"], documents["sent-back"]["parked"]) == (2, {})


def test_what_falls_due_without_a_message_is_drained(outside: Outside) -> None:
    early = convoy_message(added("due", 3, "t3", "1"))
    outside.send(message(order("due")), early)
    outside.settled(str(early.message_id))
    # As a worker leaves it that dies between a commit and the drain that it owes, and whose message was dead-lettered.
    outside.container.patch_item(
        "due",
        "due",
        [
            {"op": "set", "path": "/lastSequence", "value": 2},
            {"op": "set", "path": "/drainSince", "value": "2026-03-02T09:30:00Z"},
        ],
    )
    until(lambda: outside.partition("due")["due"]["lastSequence"] == 3, "the drain")
    drained = outside.partition("due")["due"]
    assert (drained["parked"], drained["transactionTotal"]) == ({}, "1")
    assert not {"drainSince", "waitingSince"} & drained.keys()


def test_orders_that_wait_are_listed_page_by_page_and_counted(outside: Outside) -> None:
    names = [f"waits-{number}" for number in range(60)]
    sent = [convoy_message(added(name, 3, "t3", "1")) for name in names]
    outside.send(*sent)
    outside.settled(*(str(each.message_id) for each in sent))
    first = outside.request("GET", "/api/orders?waiting=true").json
    assert len(first["orders"]) == 50
    rest = outside.request("GET", f"/api/orders?waiting=true&continuation={first['continuation']}").json
    assert "continuation" not in rest
    found = {each["orderId"]: each for each in [*first["orders"], *rest["orders"]]}
    assert sorted(found) == sorted(names)
    assert {(each["waitingForSequence"], each["parked"]) for each in found.values()} == {(1, 1)}
    until(lambda: "waiting_orders=60 parked_operations=60 oldest_seconds=" in outside.stack.log(), "the report")


@pytest.mark.parametrize("query", ["", "?waiting=false", "?waiting=true&continuation=mine"])
def test_a_wrong_question_is_told_why(outside: Outside, query: str) -> None:
    answer = outside.request("GET", f"/api/orders{query}")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.json["detail"].startswith(("waiting: ", "continuation: "))
