"""The app's own consumer takes orders in effectively once."""

from collections.abc import Sequence
from datetime import UTC

import pytest

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import OrderLine, OrderPlaced
from shared.idempotency.messages import Identifier, Instant, Money
from shared.testing.effectively_once import assert_effectively_once


def placed(order_id: str = "A1", *, quantity: int = 1) -> OrderPlaced:
    return OrderPlaced(
        order_id=Identifier(order_id),
        operation_id=Identifier(order_id),
        sequence=1,
        occurred_at=Instant(2024, 2, 29, 12, tzinfo=UTC),
        currency="GBP",
        lines=(OrderLine(sku="85048", quantity=quantity, unit_price=Money("6.95")),),
    )


@pytest.mark.parametrize(
    "orders",
    [
        [placed()],
        [placed(), placed()],
        [placed(), placed(quantity=2)],
        [placed(), placed("A2"), placed(quantity=2), placed()],
    ],
)
def test_orders_are_placed_effectively_once(orders: Sequence[OrderPlaced]) -> None:
    assert_effectively_once(process_order_operation, orders)
