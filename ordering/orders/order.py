"""The documents of an order, and its events.

Container `orders`, partition key `/orderId`. The order: id = orderId. A transaction: id = `tx:{transactionId}`. The
engine adds its own fields: see `shared.idempotency.consumer`.
"""

from typing import Literal

from ordering.orders.operations import OrderLine
from shared.idempotency.messages import Event, Instant, Money, State


class Order(State, frozen=True, kw_only=True):
    """An order.

    Attributes:
        order_id: id and partition key value.
        state: `deleted` once it is withdrawn.
        customer_id: absent for a sale to somebody unknown.
        currency: ISO 4217 code.
        lines: as placed, in the order's own sequence.
        total: sum of quantity x unitPrice, in `currency`.
        placed_at: when it was placed, as the producer says.
        transaction_count: how many transactions it has.
        transaction_total: sum of their amounts, in `currency`.
    """

    order_id: str
    state: Literal["placed", "deleted"]
    customer_id: str | None
    currency: str
    lines: tuple[OrderLine, ...]
    total: Money
    placed_at: Instant
    transaction_count: int = 0
    transaction_total: Money = Money(0)


class Transaction(State, frozen=True, kw_only=True):
    """A transaction on an order.

    Attributes:
        transaction_id: unique within the order.
        kind: what it is, in the producer's words.
        amount: as it is now, in the order's currency; negative for what goes out.
    """

    transaction_id: str
    kind: str
    amount: Money


class OrderAccepted(Event, frozen=True, kw_only=True):
    """An order was placed: data of the first event on `order-events`."""

    order_id: str
    customer_id: str | None
    currency: str
    lines: tuple[OrderLine, ...]
    total: Money
    placed_at: Instant


class TransactionRecorded(Event, frozen=True, kw_only=True):
    """An amount was booked."""

    order_id: str
    transaction_id: str
    kind: str
    amount: Money
    transaction_total: Money


class TransactionChanged(Event, frozen=True, kw_only=True):
    """A transaction has another amount."""

    order_id: str
    transaction_id: str
    amount: Money
    previous_amount: Money
    transaction_total: Money


class OrderWithdrawn(Event, frozen=True, kw_only=True):
    """An order was deleted; its documents stay."""

    order_id: str
