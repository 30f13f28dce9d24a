"""Convoys of operations over the real broker, store and worker: shuffled, repeated, poisoned, repaired."""

import random
from collections.abc import Iterator
from decimal import Decimal

import pytest
from azure.servicebus import ServiceBusMessage

from tests.e2e.clean_stack import clean_stack
from tests.e2e.convoys import Model, added, amended, convoy_message, operation
from tests.e2e.orders import Order, message, order
from tests.e2e.outside import Outside
from tests.running_stack import deployed_app, until

ORDERS = [f"convoy-{number}" for number in range(20)]
POISONED = ORDERS[:2]
LENGTH = 12
POISON = 6
"""The number of the operation that cannot be applied, in two of the orders."""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    app = deployed_app(tmp_path_factory.mktemp("app"))
    with clean_stack(app, {"RETRY_WAIT_SECONDS_MAX": "0.2"}) as stack, Outside.of(stack) as opened:
        yield opened


def operations_of(order_id: str) -> list[Order]:
    """What follows the placing: transactions, every third one amending the one before, and a lost number."""
    said = [
        amended(order_id, number, f"t{number - 1}", f"{number}.5")
        if number % 3 == 0
        else added(order_id, number, f"t{number}", str(number))
        for number in range(2, LENGTH + 1)
    ]
    said[7 - 2] = operation(order_id, 7, "SequenceVoided")
    if order_id in POISONED:
        said[POISON - 2] = amended(order_id, POISON, "nothing", "1")
    return said


def shuffled(chance: random.Random) -> list[ServiceBusMessage]:
    """All orders at once, each within a window of four, every message one to three times."""
    numbered = []
    for order_id in ORDERS:
        sent = [message(order(order_id)), *map(convoy_message, operations_of(order_id))]
        for number, first in enumerate(sent):
            numbered.append((number + chance.uniform(0, 4), first))
            body = operations_of(order_id)[number - 1] if number else order(order_id)
            for copy in range(chance.randrange(3)):
                again = message(body, f"copy{copy}") if number == 0 else convoy_message(body, f"copy{copy}")
                numbered.append((number + chance.uniform(0, 6), again))
    return [sent for _, sent in sorted(numbered, key=lambda pair: pair[0])]


def last_applied(outside: Outside, order_id: str) -> int:
    return int(outside.partition(order_id).get(order_id, {}).get("lastSequence", 0))


def test_shuffled_repeated_and_poisoned_convoys_end_as_the_model_says(outside: Outside) -> None:
    messages = shuffled(random.Random(5))  # noqa: S311 - a fixed shuffle
    for start in range(0, len(messages), 100):
        outside.send(*messages[start : start + 100])
    outside.settled(*(str(sent.message_id) for sent in messages))
    whole = [order_id for order_id in ORDERS if order_id not in POISONED]
    assert {last_applied(outside, order_id) for order_id in whole} == {LENGTH}
    # What follows the poison waits, and holds up nobody else.
    for order_id in POISONED:
        stored = outside.partition(order_id)[order_id]
        assert (stored["lastSequence"], sorted(map(int, stored["parked"]))) == (5, list(range(7, LENGTH + 1)))
        repaired = amended(order_id, POISON, "t5", "6.5")
        outside.send(convoy_message(repaired))
    until(lambda: all(last_applied(outside, order_id) == LENGTH for order_id in POISONED), "the drain")
    for order_id in ORDERS:
        check(outside, order_id)


def check(outside: Outside, order_id: str) -> None:
    """The order's documents are the model's."""
    model = Model()
    repaired = amended(order_id, POISON, "t5", "6.5")
    model.apply([repaired if said["sequence"] == POISON else said for said in operations_of(order_id)])
    documents = outside.partition(order_id)
    stored = documents[order_id]
    assert (stored["lastSequence"], stored["parked"]) == (LENGTH, {})
    assert Decimal(stored["transactionTotal"]) == model.total
    amounts = {key.removeprefix("tx:"): body["amount"] for key, body in documents.items() if key.startswith("tx:")}
    assert {key: Decimal(amount) for key, amount in amounts.items()} == model.amounts
    markers = {key: body for key, body in documents.items() if key.startswith("op:")}
    assert sorted(body["payload"]["sequence"] for body in markers.values()) == list(range(2, LENGTH + 1))
    assert {body["state"] for body in markers.values()} == {"applied"}
    # A voided number tells nobody; the numbers of the events have no gap all the same.
    outbox = [documents[f"out:{number}"] for number in range(1, stored["outboxSequence"] + 1)]
    events = [body["message"]["body"]["id"] for body in outbox if body["destination"] == "order-events"]
    assert events == [f"{order_id}:{number}" for number in range(1, LENGTH)]


def test_an_order_that_is_expected_is_not_there_yet(outside: Outside) -> None:
    early = added("expected", 2, "t2", "1")
    outside.send(convoy_message(early))
    assert outside.outcome(convoy_message(early)) == "complete parked"
    assert outside.request("GET", "/api/orders/expected").status == 404
    waits = outside.request("GET", f"/api/orders/expected/operations/{early['operationId']}").json
    assert waits["state"] == "parked"
    outside.send(message(order("expected")))
    until(lambda: last_applied(outside, "expected") == 2, "both")
    read = outside.request("GET", "/api/orders/expected").json
    assert (read["transactionTotal"], read["lastSequence"]) == ("1", 2)


def test_what_comes_after_the_last_is_dead_lettered(outside: Outside) -> None:
    outside.send(message(order("ended")), convoy_message(operation("ended", 2, "OrderDeleted")))
    late = convoy_message(added("ended", 3, "t3", "1"))
    outside.send(late)
    assert outside.outcome(late) == "dead-letter OrderClosed"
    assert outside.request("GET", "/api/orders/ended").json["state"] == "deleted"
