"""The order's document and its event.

Container `orders`, partition key `/orderId`, id = orderId. The engine adds its own fields: see
`shared.idempotency.consumer`.
"""

from typing import Literal

from ordering.orders.operations import OrderLine
from shared.idempotency.messages import Event, Instant, Money, State


class Order(State, frozen=True, kw_only=True):
    """An order.

    Attributes:
        order_id: id and partition key value.
        state: `placed`.
        customer_id: absent for a sale to somebody unknown.
        currency: ISO 4217 code.
        lines: as placed, in the order's own sequence.
        total: sum of quantity x unitPrice, in `currency`.
        placed_at: when it was placed, as the producer says.
        closed: whether the producer said that nothing follows.
    """

    order_id: str
    state: Literal["placed"]
    customer_id: str | None
    currency: str
    lines: tuple[OrderLine, ...]
    total: Money
    placed_at: Instant
    closed: bool


class OrderAccepted(Event, frozen=True, kw_only=True):
    """An order was placed: data of the first event on `order-events`."""

    order_id: str
    customer_id: str | None
    currency: str
    lines: tuple[OrderLine, ...]
    total: Money
    placed_at: Instant
