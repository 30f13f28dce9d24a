"""Placing an order."""

from ordering.orders.operations import OrderPlaced
from ordering.orders.order import Order, OrderAccepted
from shared.idempotency.decisions import Apply, Decision


def place_order(order: Order | None, placed: OrderPlaced) -> Decision[Order]:
    """A new order, and the event that tells of it.

    `order` is always None: an order that exists is its own marker, and the engine judges a second placing by it.
    """
    new = Order(
        order_id=placed.order_id,
        state="placed",
        customer_id=placed.customer_id,
        currency=placed.currency,
        lines=placed.lines,
        total=placed.total,
        placed_at=placed.occurred_at,
    )
    event = OrderAccepted(
        order_id=placed.order_id,
        customer_id=placed.customer_id,
        currency=placed.currency,
        lines=placed.lines,
        total=placed.total,
        placed_at=placed.occurred_at,
    )
    return Apply(new, (event,))
