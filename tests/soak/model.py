"""What was sent, and what must have become of it. Pure."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from samples.request_hash import Json, message_id, request_hash

type Order = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message to send.

    Attributes:
        order_id: session id.
        message_id: as a producer makes it.
        order: the body.
        reason: why it must be dead-lettered; None if it must be completed.
        over_http: whether it goes in by HTTP, which is for a first message alone.
    """

    order_id: str
    message_id: str
    order: Order
    reason: str | None = None
    over_http: bool = False


@dataclass(slots=True)
class Model:
    """All orders of one round, and what must be there when it is drained."""

    hashes: dict[str, str] = field(default_factory=dict)
    dead_letters: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    def note(self, sent: Sent) -> None:
        """Take in what is sent; the first message of an order is the one that is placed."""
        self.messages[sent.message_id] = sent.order_id
        if sent.reason is not None:
            self.dead_letters[sent.message_id] = sent.reason
        else:
            self.hashes.setdefault(sent.order_id, request_hash(sent.order))


def story(number: int, chance: random.Random) -> Iterator[Sent]:
    """One order's messages, in their sequence: the order, and now and then resends, copies and another order."""
    order_id = f"soak-{number}"
    order: Order = {
        "type": "OrderPlaced", "orderId": order_id, "operationId": order_id, "sequence": 1,
        "occurredAt": "2026-03-02T09:30:00Z", "currency": "GBP",
        "lines": [{"sku": "MUG-01", "quantity": chance.randint(1, 9), "unitPrice": "7.50"}],
    }  # fmt: skip
    yield Sent(order_id, message_id(order), order, over_http=chance.random() < 0.2)
    if chance.random() < 0.3:
        yield Sent(order_id, message_id(order), order)
    if chance.random() < 0.3:
        yield Sent(order_id, message_id(order, "copy1"), order)
    if chance.random() < 0.2:
        changed: Order = {**order, "currency": "EUR"}
        yield Sent(order_id, message_id(changed), changed, reason="RequestHashMismatch")
    if chance.random() < 0.2:
        yield Sent(order_id, message_id(order, "copy2"), order)


@dataclass(frozen=True, slots=True)
class Found:
    """What was read back of one order."""

    documents: frozenset[str]
    request_hash: str | None
    event_id: str | None


def violations(model: Model, found: dict[str, Found], dead_letters: dict[str, list[str]], left: int) -> list[str]:
    """Everything that is not as it must be; empty when all is.

    Args:
        model: what was sent.
        found: what is stored, by order.
        dead_letters: reasons by MessageId; one for each time that it was dead-lettered.
        left: how many messages are still in the queue.
    """
    faults = [] if left == 0 else [f"{left} messages are left in the queue"]
    for order_id, wanted in model.hashes.items():
        stored = found[order_id]
        if stored != Found(frozenset({order_id, "out:1"}), wanted, f"{order_id}:1"):
            faults.append(f"{order_id}: stored {stored}, with the hash {wanted} sent")
    for message, reason in model.dead_letters.items():
        if dead_letters.get(message) != [reason]:
            faults.append(f"{message}: dead-lettered {dead_letters.get(message)}, not once for {reason}")
    faults += [
        f"{message}: dead-lettered {reasons}, and must not be"
        for message, reasons in dead_letters.items()
        if message in model.messages and message not in model.dead_letters
    ]
    return faults
