"""The app's own convoy of orders on a scripted store, and operations for it."""

from collections.abc import Mapping
from datetime import UTC

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import (
    Operation,
    OrderDeleted,
    OrderLine,
    OrderPlaced,
    SequenceVoided,
    TransactionAdded,
    TransactionAmended,
)
from ordering.orders.order import Order
from shared.convoy.cache import StateCache
from shared.convoy.engine import ConvoyEngine
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Disposition
from shared.idempotency.engine import Engine
from shared.idempotency.messages import Identifier, Instant, Money
from shared.idempotency.ports import Document
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.testing.deliveries import delivery_of
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore
from tests.unit.scripted_store import Script, ScriptedStore

ORDER = "A1"
AT = Instant(2026, 3, 2, 9, 30, tzinfo=UTC)


class Instance:
    """One process of the app; `beside` shares the documents of another."""

    def __init__(
        self,
        *,
        beside: "Instance | None" = None,
        script: Mapping[int, Script] | None = None,
        parked_max: int = 100,
        drain_seconds: float = 20.0,
    ) -> None:
        self.memory: MemoryStore = beside.memory if beside else MemoryStore("/orderId")
        self.random: SequenceRandom = beside.random if beside else SequenceRandom()
        self.store = ScriptedStore(self.memory, script or {})
        self.clock = ManualClock()
        self.cache = StateCache()
        self._limits = Limits(parked_max=parked_max, drain_seconds=drain_seconds)

    @property
    def engine(self) -> ConvoyEngine[Operation, Order]:
        """A new engine, as every delivery has one."""
        engine: Engine[Operation, Order] = Engine(
            consumer=process_order_operation,
            store=TimeLimitedStore(self.store, call_seconds=self._limits.store_call_seconds),
            clock=self.clock,
            random=self.random,
            limits=self._limits,
        )
        return ConvoyEngine.beside(engine, cache=self.cache)

    async def handle(self, operation: Operation, *, count: int = 1, suffix: str | None = None) -> Disposition:
        """One delivery."""
        delivery = delivery_of(process_order_operation, operation, delivery_count=count, suffix=suffix)
        return (await self.engine.handle(delivery)).disposition

    async def calls_of(self, operation: Operation, *, count: int = 1, suffix: str | None = None) -> list[str]:
        """One delivery's store calls, by kind and ids."""
        self.store.calls.clear()
        await self.handle(operation, count=count, suffix=suffix)
        return list(self.store.calls)

    def documents(self) -> dict[str, Document]:
        """The order's documents by id."""
        return self.memory.documents(ORDER)

    @property
    def order(self) -> Document:
        """The order's own document."""
        return self.documents()[ORDER]


def placed() -> OrderPlaced:
    """The first operation."""
    line = OrderLine(sku="MUG-01", quantity=2, unit_price=Money("7.50"))
    return OrderPlaced(
        order_id=Identifier(ORDER),
        operation_id=Identifier(ORDER),
        sequence=1,
        occurred_at=AT,
        currency="GBP",
        lines=(line,),
    )


def added(
    number: int, *, transaction: str = "", amount: str = "1", key: str = "", last: bool = False
) -> TransactionAdded:
    """A transaction of its own, named after its number unless said otherwise."""
    return TransactionAdded(
        order_id=Identifier(ORDER),
        operation_id=Identifier(key or f"o{number}"),
        sequence=number,
        occurred_at=AT,
        end_of_sequence=last,
        transaction_id=Identifier(transaction or f"t{number}"),
        kind="fee",
        amount=Money(amount),
    )


def amended(number: int, transaction: str, amount: str = "9") -> TransactionAmended:
    """Another amount of an earlier transaction."""
    return TransactionAmended(
        order_id=Identifier(ORDER),
        operation_id=Identifier(f"o{number}"),
        sequence=number,
        occurred_at=AT,
        transaction_id=Identifier(transaction),
        amount=Money(amount),
    )


def deleted(number: int) -> OrderDeleted:
    """The order is withdrawn."""
    return OrderDeleted(
        order_id=Identifier(ORDER), operation_id=Identifier(f"o{number}"), sequence=number, occurred_at=AT
    )


def voided(number: int, key: str = "") -> SequenceVoided:
    """A number without an operation."""
    return SequenceVoided(
        order_id=Identifier(ORDER), operation_id=Identifier(key or f"o{number}"), sequence=number, occurred_at=AT
    )
