"""The relay: what is committed is sent in order, once as far as the broker can tell, and marked afterwards."""

from collections.abc import Sequence

import pytest

from shared.idempotency.errors import BrokerUnavailableError
from shared.idempotency.json_text import Json
from shared.idempotency.ports import CommitOutcome, Document, OutcomeUnknown, Write
from shared.outbox.outgoing import OutgoingMessage
from shared.outbox.relay import relay, sweep
from shared.testing.memory_store import MemoryStore


class Queue:
    """Takes messages, drops those it has seen, and refuses those that are too large."""

    def __init__(self) -> None:
        self.accepted: list[OutgoingMessage] = []
        self.is_down = False
        self.confirms = True
        self.bytes_max = 1000

    async def send_batch(self, messages: Sequence[OutgoingMessage]) -> int:
        if self.is_down:
            raise BrokerUnavailableError("broker: ServiceBusConnectionError")
        for count, message in enumerate(messages):
            if len(message.body) > self.bytes_max:
                return count
            if message.message_id not in self.ids:
                self.accepted.append(message)
        if not self.confirms:
            raise BrokerUnavailableError("broker: TimeoutError")
        return len(messages)

    @property
    def ids(self) -> list[str]:
        return [message.message_id for message in self.accepted]


class Forgetful(MemoryStore):
    """Loses the answer to every commit, applied or not."""

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        await super().commit(partition, writes)
        return OutcomeUnknown("reset")


def outgoing(number: int, *, destination: str = "orders", partition: str = "A1", body: str = "x") -> Document:
    message: Json = {
        "messageId": f"o{number}~0123456789abcdef~b{number}",
        "sessionId": partition,
        "subject": "TransactionAdded",
        "body": {"text": body},
    }
    return {
        "id": f"out:{number}", "orderId": partition, "destination": destination, "status": "ready",
        "readySince": "2026-03-02T09:30:00Z", "message": message, "traceparent": None,
    }  # fmt: skip


def filled(*documents: Document, store: MemoryStore | None = None) -> MemoryStore:
    store = store or MemoryStore("/orderId")
    for document in documents:
        store.put(str(document["orderId"]), document)
    return store


async def test_they_are_sent_in_the_order_of_their_numbers_and_marked() -> None:
    store, queue = filled(*(outgoing(number) for number in (10, 9, 2))), Queue()
    assert await relay(store, "A1", "orders", queue) == 3
    assert [message_id.partition("~")[0] for message_id in queue.ids] == ["o2", "o9", "o10"]
    first = queue.accepted[0]
    assert (first.session_id, first.subject, first.body) == ("A1", "TransactionAdded", b'{"text":"x"}')
    for document in store.documents("A1").values():
        assert (document["status"], document["readySince"], document["ttl"]) == ("published", None, 604800)
    assert await relay(store, "A1", "orders", queue) == 0
    assert len(queue.accepted) == 3


async def test_what_it_costs() -> None:
    store = filled(outgoing(1), outgoing(2))
    await relay(store, "A1", "orders", Queue())
    # One query and one batch, whatever their number.
    assert (store.queries, store.commits, store.writes) == (1, 1, 2)


async def test_other_destinations_are_left_alone() -> None:
    store, queue = filled(outgoing(1, destination="order-events"), outgoing(2)), Queue()
    assert await relay(store, "A1", "orders", queue) == 1
    assert store.documents("A1")["out:1"]["status"] == "ready"


async def test_nothing_is_marked_before_it_is_confirmed() -> None:
    store, queue = filled(outgoing(1)), Queue()
    queue.is_down = True
    with pytest.raises(BrokerUnavailableError):
        await relay(store, "A1", "orders", queue)
    assert store.documents("A1")["out:1"]["status"] == "ready"
    queue.is_down, queue.confirms = False, False
    with pytest.raises(BrokerUnavailableError):
        await relay(store, "A1", "orders", queue)
    assert store.documents("A1")["out:1"]["status"] == "ready"
    queue.confirms = True
    assert await relay(store, "A1", "orders", queue) == 1
    # Sent again under the same MessageId: the broker dropped it.
    assert len(queue.accepted) == 1


async def test_a_mark_that_is_lost_is_found_by_the_next() -> None:
    store, queue = filled(outgoing(1), store=Forgetful("/orderId")), Queue()
    assert await relay(store, "A1", "orders", queue) == 0
    assert await relay(store, "A1", "orders", queue) == 0
    assert store.documents("A1")["out:1"]["status"] == "published"
    assert len(queue.accepted) == 1


async def test_one_that_can_never_be_sent_is_parked_and_holds_up_its_partition_alone() -> None:
    store = filled(outgoing(1), outgoing(2, body="x" * 2000), outgoing(3), outgoing(1, partition="A2"))
    queue = Queue()
    assert await sweep(store, "orders", queue) == 2
    states = {key: body["status"] for key, body in store.documents("A1").items()}
    assert states == {"out:1": "published", "out:2": "parked", "out:3": "ready"}
    assert store.documents("A1")["out:2"]["parkedReason"] == "larger than the destination takes"
    assert await sweep(store, "orders", queue) == 0
    assert store.documents("A1")["out:3"]["status"] == "ready"


async def test_a_sweep_pages_to_the_end_whatever_fails() -> None:
    store = filled(*(outgoing(1, partition=f"P{number:03}") for number in range(250)))
    queue = Queue()
    queue.is_down = True
    assert await sweep(store, "orders", queue) == 0
    queue.is_down = False
    sent = 0
    # Marking takes documents out of what is paged over, so that one sweep may pass some by.
    for _ in range(5):
        sent += await sweep(store, "orders", queue)
    assert sent == 250
