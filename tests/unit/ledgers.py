"""Parts of ledgers as deliveries, and an engine that fans them out on doubles of store and queue."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordering.ledgers.parts import LedgerPart, ledger_part, read_part
from ordering.ledgers.reading import read_ledger
from ordering.orders.operations import Operation
from shared.fan_out.engine import FanOutEngine
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Handled
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import BODY_BYTES_MAX, to_document
from shared.idempotency.ports import Clock, Delivery, Document, Store
from shared.idempotency.request_hash import request_hash
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.outbox.outgoing import Destination
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_queue import MemoryQueue
from shared.testing.memory_store import MemoryStore
from tests.unit.scripted_store import Script, ScriptedStore

LEDGER, SOURCE = "2009-12-01", "shop-7"

TWO_OPERATIONS = 500
"""Bytes in which two of the operations below fit, and three do not."""


def operation(order_id: str, sequence: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A transaction; its id is made of the order's and the number."""
    return {
        "type": "TransactionAdded",
        "orderId": order_id,
        "operationId": f"{order_id}-{sequence}",
        "sequence": sequence,
        "occurredAt": "2009-12-01T07:45:00Z",
        "transactionId": f"t{sequence}",
        "kind": "payment",
        "amount": "1.50",
        **fields,
    }


def walk(*, orders: int = 2, length: int = 3) -> list[dict[str, Any]]:
    """Operations of several orders in turns, as a ledger has them."""
    return [operation(f"A{order}", number) for number in range(2, length + 2) for order in range(1, orders + 1)]


def part_of(operations: Sequence[Mapping[str, Any]], *, part: int = 1, parts: int = 1) -> LedgerPart:
    """A part of operations without fault."""
    lines, faults = read_ledger(json.dumps(operations).encode(), body_bytes_max=BODY_BYTES_MAX)
    assert faults == []
    return ledger_part(LEDGER, SOURCE, part, parts, lines)


def delivery_of(part: LedgerPart, *, count: int = 1, suffix: str = "") -> Delivery:
    """A delivery of a part, as a producer sends it."""
    return Delivery(
        message_id=message_id_of(part.key, request_hash(part)) + suffix,
        session_id=str(part.source),
        sequence_number=1,
        delivery_count=count,
        body=json.dumps(to_document(part)).encode(),
    )


def raw_delivery(operations: Sequence[object], **fields: Any) -> Delivery:  # noqa: ANN401 - JSON
    """A delivery of whatever a producer might send; its MessageId has the key alone."""
    body = {"type": "LedgerPart", "ledgerId": LEDGER, "source": SOURCE, "part": 1, "parts": 1, "operations": operations}
    text = json.dumps({**body, **fields}).encode()
    return Delivery(message_id=f"{LEDGER}.1", session_id=SOURCE, sequence_number=1, delivery_count=1, body=text)


def sent_ids(operations: Sequence[Operation]) -> list[str]:
    """MessageIds under which the operations must be sent."""
    return [message_id_of(said.operation_id, request_hash(said)) for said in operations]


class FanOutBench:
    """An engine on a scripted store and a queue; `beside` is another instance on the same documents and queue."""

    def __init__(
        self,
        script: Mapping[int, Script] | None = None,
        *,
        queue: Destination | None = None,
        batch_bytes_max: int = TWO_OPERATIONS,
        beside: "FanOutBench | None" = None,
    ) -> None:
        self.memory: MemoryStore = beside.memory if beside else MemoryStore("/ledgerId")
        self.store = ScriptedStore(self.memory, script or {})
        self.queue: MemoryQueue = beside.queue if beside else MemoryQueue(batch_bytes_max=batch_bytes_max)
        self.clock = ManualClock()
        self._destination = queue or self.queue

    async def take(self, delivery: Delivery) -> Handled:
        """One delivery."""
        return await engine(self.store, self._destination, self.clock).handle(delivery)

    async def handle(self, part: LedgerPart, *, count: int = 1, suffix: str = "") -> Handled:
        """One delivery of a part."""
        return await self.take(delivery_of(part, count=count, suffix=suffix))

    def document(self, part: int = 1) -> Document:
        """The part's document."""
        return self.memory.documents(LEDGER)[f"part:{part}"]


def engine(store: Store, destination: Destination, clock: Clock, limits: Limits | None = None) -> FanOutEngine:
    """The engine as `shared.consumers` makes it."""
    limits = limits or Limits()
    return FanOutEngine(
        read=lambda delivery: read_part(delivery, BODY_BYTES_MAX),
        store=TimeLimitedStore(store, call_seconds=limits.store_call_seconds),
        destination=destination,
        clock=clock,
        random=SequenceRandom(),
        limits=limits,
    )


def changed(part: LedgerPart) -> LedgerPart:
    """The part without its last operation."""
    return replace_operations(part, part.operations[:-1])


def replace_operations(part: LedgerPart, operations: tuple[Operation, ...]) -> LedgerPart:
    """The part with other operations."""
    return msgspec.structs.replace(part, operations=operations)
