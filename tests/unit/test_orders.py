"""Orders: the rules of `OrderPlaced`, exact totals, and what placing an order writes and tells."""

import json
from datetime import UTC
from decimal import Decimal

import pytest

from ordering.orders.operations import OrderLine, OrderPlaced
from ordering.orders.order import Order, OrderAccepted
from ordering.orders.placing import place_order
from shared.idempotency.decisions import Apply
from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.messages import Instant, Money, parse_message

LINE = {"sku": "85048", "description": "GLASS BALL", "quantity": 12, "unitPrice": "6.95"}


def body(**changes: object) -> dict[str, object]:
    whole: dict[str, object] = {
        "schemaVersion": 1, "type": "OrderPlaced", "orderId": "489434", "operationId": "489434", "sequence": 1,
        "occurredAt": "2009-12-01T07:45:00Z", "currency": "GBP", "lines": [LINE],
    }  # fmt: skip
    return whole | changes


def read(**changes: object) -> OrderPlaced:
    return parse_message(json.dumps(body(**changes)).encode(), OrderPlaced)


def lines(*pairs: tuple[int, str]) -> list[dict[str, object]]:
    return [{"sku": "a", "quantity": quantity, "unitPrice": price} for quantity, price in pairs]


INVALID, IDENTIFIER = DeadLetterReason.INVALID_MESSAGE, DeadLetterReason.INVALID_IDENTIFIER


@pytest.mark.parametrize(
    ("changes", "reason", "rule"),
    [
        ({"operationId": "other"}, INVALID, "operationId: must equal orderId, because OrderPlaced creates the order"),
        ({"sequence": 2}, INVALID, "sequence: must be 1, because OrderPlaced is an order's first operation"),
        ({"sequence": 0}, INVALID, "Expected `int` >= 1 - at `$.sequence`"),
        ({"sequence": None}, INVALID, "Object missing required field `sequence`"),
        ({"currency": "gbp"}, INVALID, "Expected `str` matching regex '^[A-Z]{3}$' - at `$.currency`"),
        ({"currency": "GBP\n"}, INVALID, "Expected `str` of length <= 3 - at `$.currency`"),
        ({"lines": []}, INVALID, "Expected `array` of length >= 1 - at `$.lines`"),
        ({"lines": [LINE | {"quantity": 0}]}, INVALID, "quantity: must not be 0 - at `$.lines[0]`"),
        ({"lines": [LINE | {"quantity": 1.5}]}, INVALID, "Expected `int`, got `float` - at `$.lines[0].quantity`"),
        (
            {"lines": [LINE | {"quantity": 10**9 + 1}]},
            INVALID,
            "Expected `int` <= 1000000000 - at `$.lines[0].quantity`",
        ),
        ({"lines": [LINE | {"sku": ""}]}, INVALID, "Expected `str` of length >= 1 - at `$.lines[0].sku`"),
        ({"lines": [LINE | {"sku": "x" * 101}]}, INVALID, "Expected `str` of length <= 100 - at `$.lines[0].sku`"),
        ({"lines": [LINE, LINE | {"description": "x" * 501}]}, INVALID, "length <= 500 - at `$.lines[1].description`"),
        ({"lines": [LINE | {"gift": True}]}, INVALID, "Object contains unknown field `gift` - at `$.lines[0]`"),
        (
            {"lines": lines((10**9, "1000000"))},
            INVALID,
            "lines: their total must have at most 15 digits",
        ),
        ({"orderId": "a/b"}, IDENTIFIER, "the first a letter or digit - at `$.orderId`"),
        ({"customerId": ""}, IDENTIFIER, "the first a letter or digit - at `$.customerId`"),
        ({"endOfSequence": "yes"}, INVALID, "Expected `bool`, got `str` - at `$.endOfSequence`"),
        ({"sentAt": "2009-12-01T07:45:00Z"}, INVALID, "Object contains unknown field `sentAt`"),
    ],
)
def test_a_broken_rule_is_named(changes: dict[str, object], reason: DeadLetterReason, rule: str) -> None:
    with pytest.raises(PermanentError) as caught:
        read(**changes)
    assert caught.value.reason == reason
    assert rule in caught.value.description


def test_what_real_orders_have_is_taken() -> None:
    # No customer, returned goods, given goods, one article twice.
    placed = read(lines=[LINE, LINE, LINE | {"quantity": -3}, LINE | {"unitPrice": "0"}])
    assert placed.customer_id is None
    assert len(placed.lines) == 4


@pytest.mark.parametrize(
    ("given", "total"),
    [
        (lines((12, "6.95")), "83.4"),
        (lines((3, "0.1"), (3, "0.2")), "0.9"),
        (lines((2, "7.50"), (1, "11.20")), "26.2"),
        (lines((5, "1.25"), (-5, "1.25")), "0"),
        (lines((-2, "10")), "-20"),
        (lines((1, "999999999999999.999999")), "999999999999999.999999"),
        # 28 digits, the default context's limit, would round this.
        (lines((10**9, "999999.999999"), (1, "0.000001")), "999999999999000.000001"),
    ],
)
def test_totals_are_exact(given: list[dict[str, object]], total: str) -> None:
    assert read(lines=given).total == Decimal(total)


def test_placing_writes_the_order_and_tells_of_it() -> None:
    placed = read(customerId="13085", endOfSequence=True)
    line = OrderLine(sku="85048", description="GLASS BALL", quantity=12, unit_price=Money("6.95"))
    at = Instant(2009, 12, 1, 7, 45, tzinfo=UTC)
    assert place_order(None, placed) == Apply(
        Order(
            order_id="489434", state="placed", customer_id="13085", currency="GBP", lines=(line,), total=Money("83.4"),
            placed_at=at,
        ),
        (
            OrderAccepted(
                order_id="489434", customer_id="13085", currency="GBP", lines=(line,), total=Money("83.4"), placed_at=at
            ),
        ),
    )  # fmt: skip
