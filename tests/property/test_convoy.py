"""Any interleaving, duplication and crash of an order's operations ends as applying them once, in sequence."""

import asyncio
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import Operation
from shared.idempotency.disposition import Complete, DeadLetter
from shared.idempotency.json_text import Json
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import parse_message
from shared.idempotency.ports import Delivery
from shared.idempotency.request_hash import request_hash
from tests.property.convoy_world import Settled, World

ORDER = "A1"

type Fields = dict[str, Json]


def operation(number: int, key: str, **fields: Json) -> Fields:
    common: Fields = {"orderId": ORDER, "operationId": key, "sequence": number, "occurredAt": "2026-03-02T09:30:00Z"}
    return {**common, **fields}


def placing() -> Fields:
    line: Json = {"sku": "MUG-01", "quantity": 2, "unitPrice": "7.50"}
    return operation(1, ORDER, type="OrderPlaced", currency="GBP", lines=[line])


def later(number: int, chance: random.Random) -> Fields:
    """Mostly transactions; one in five amends what is not there, and is rejected at its turn."""
    draw = chance.random()
    if draw < 0.2:
        return operation(number, f"o{number}", type="TransactionAmended", transactionId="nothing", amount="1")
    if draw < 0.3:
        return operation(number, f"o{number}", type="SequenceVoided")
    if draw < 0.4:
        return operation(number, f"o{number}", type="OrderDeleted")
    if draw < 0.55 and number > 2:
        return operation(number, f"o{number}", type="TransactionAmended", transactionId="t2", amount=str(number))
    transaction = "t2" if draw < 0.65 else f"t{number}"
    return operation(
        number, f"o{number}", type="TransactionAdded", transactionId=transaction, kind="fee", amount=str(number)
    )


def read(body: bytes) -> Operation:
    message: Operation = parse_message(body, Operation)
    return message


def delivery(fields: Fields, suffix: str = "") -> Delivery:
    body = msgspec.json.encode(fields)
    message = read(body)
    message_id = message_id_of(process_order_operation.key(message), request_hash(message))
    return Delivery(message_id=message_id + suffix, session_id=ORDER, sequence_number=1, delivery_count=1, body=body)


def story(chance: random.Random) -> Iterator[Delivery]:
    """2 to 6 operations, each sent one to three times; some changed; now and then two under one number."""
    count = chance.randint(2, 6)
    operations = [placing(), *(later(number, chance) for number in range(2, count + 1))]
    if count > 2 and chance.random() < 0.3:
        contested = chance.randint(2, count)
        operations.append(operation(contested, "rival", type="SequenceVoided"))
    for fields in operations:
        for copy in range(chance.randint(1, 3)):
            yield delivery(fields, f"~copy{copy}" if copy and chance.random() < 0.6 else "")
        if chance.random() < 0.15:
            yield delivery({**fields, "occurredAt": "2027-01-01T00:00:00Z"})


def total_of(applied: list[Fields]) -> Decimal:
    """What the transactions sum up to: the reference."""
    amounts: dict[str, Decimal] = {}
    for fields in applied:
        if "transactionId" in fields:
            amounts[str(fields["transactionId"])] = Decimal(str(fields["amount"]))
    return sum(amounts.values(), Decimal(0))


class Outcome:
    """What a history left, as its documents and settlements say.

    Attributes:
        order: the order's document, empty where there is none.
        markers: the other markers by operation id.
        events: ids of the events, in the outbox's order.
        sent_back: ids of the operations that went to the queue again.
        dead: ids of the operations with a message in the dead-letter queue.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        documents: dict[str, Any] = world.documents.documents(ORDER)
        self.order = documents.get(ORDER, {})
        self.markers = {key.removeprefix("op:"): body for key, body in documents.items() if key.startswith("op:")}
        outbox: list[Any] = world.outbox()
        self.all_published = all(body["status"] == "published" for body in outbox)
        outgoing = [(body["destination"], body["message"]["body"]) for body in outbox]
        self.events = [body["id"] for destination, body in outgoing if destination == "order-events"]
        self.sent_back = {body["operationId"] for destination, body in outgoing if destination == "orders"}
        self.bodies: dict[str, Any] = {sent.message_id: json.loads(sent.body or b"") for sent in world.sent}
        self.dead = {
            self.bodies[done.delivery.message_id]["operationId"]
            for done in world.settled
            if isinstance(done.disposition, DeadLetter)
        }

    @property
    def last(self) -> int:
        """The number of the last operation applied."""
        return int(self.order.get("lastSequence", 0))

    def check_sequence(self) -> None:
        """Applied without a gap, one after the other, to the sum that they make in this sequence."""
        applied = {body["sequence"]: body for body in self._payloads("applied")}
        assert sorted(applied) == list(range(2, self.last + 1))
        assert ("requestHash" in self.order) == (self.last > 0)
        if self.last:
            assert Decimal(self.order["transactionTotal"]) == total_of([applied[n] for n in sorted(applied)])

    def check_waiting(self) -> None:
        """Nothing that is due waits, and what waits is held by its marker."""
        parked = self.order.get("parked", {})
        assert str(self.last + 1) not in parked
        assert not (self.order.get("closed") and parked)
        assert {body["operationId"] for body in self._payloads("parked")} == set(parked.values())

    def check_outbox(self) -> None:
        """One event each, in order; nothing left to send."""
        assert self.events == [f"{ORDER}:{number}" for number in range(1, len(self.events) + 1)]
        assert self.order.get("eventSequence", 0) == len(self.events)
        assert self.all_published

    def check_messages(self) -> None:
        """Every message ended once; what was completed is there or was sent back; nothing there is dead-lettered."""
        world = self._world
        ended = sorted(done.delivery.message_id for done in world.settled)
        assert ended == sorted(sent.message_id for sent in world.sent)
        assert self.sent_back <= self.dead
        for done in world.settled:
            self._check_message(done)

    def _check_message(self, done: Settled) -> None:
        message_id = done.delivery.message_id
        body = self.bodies[message_id]
        key = body["operationId"]
        marker = self.order if key == ORDER else self.markers.get(key, {})
        message = read(done.delivery.body or b"")
        is_ours = marker.get("requestHash") == request_hash(message)
        if isinstance(done.disposition, Complete):
            assert is_ours or key in self.sent_back, f"{message_id} is completed, but not there"
        elif is_ours and marker.get("state") != "parked":
            # Two that fight for a number may each lose once, and win after the other was sent back.
            rivals = {other["operationId"] for other in self.bodies.values() if other["sequence"] == body["sequence"]}
            assert rivals != {key} or key in self.sent_back, f"{message_id} is there, and {done.disposition}"
        assert key in {*self.markers, *self.dead} or self.last, f"{key} has vanished"

    def _payloads(self, state: str) -> list[Any]:
        return [marker["payload"] for marker in self.markers.values() if marker["state"] == state]


async def history(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - drawn by Hypothesis
    deliveries = list(story(chance))
    if chance.random() < 0.7:
        chance.shuffle(deliveries)
    world = World(chance, deliveries)
    await world.run()
    outcome = Outcome(world)
    outcome.check_sequence()
    outcome.check_waiting()
    outcome.check_outbox()
    outcome.check_messages()


@settings(max_examples=300, report_multiple_bugs=False)
@given(st.integers(0, 2**40))
def test_any_history_of_an_order_ends_as_its_operations_in_sequence(seed: int) -> None:
    asyncio.run(history(seed))
