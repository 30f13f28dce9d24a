"""Orders as a producer makes them: bodies, and messages with the producer's own request hash."""

import json
from typing import Any

from azure.servicebus import ServiceBusMessage

from samples.request_hash import Json, message_id

type Order = dict[str, Json]


def order(order_id: str, **changes: Json) -> Order:
    """An `OrderPlaced` of two lines, 7.50 x 2 + 11.20 x 1 = 26.20; `changes` replaces or adds fields."""
    return {
        "schemaVersion": 1,
        "type": "OrderPlaced",
        "orderId": order_id,
        "operationId": order_id,
        "sequence": 1,
        "occurredAt": "2026-03-02T10:30:00+01:00",
        "customerId": "c-204",
        "currency": "GBP",
        "lines": [
            {"sku": "MUG-01", "description": "Enamel mug, blue", "quantity": 2, "unitPrice": "7.50"},
            {"sku": "TEA-11", "quantity": 1, "unitPrice": "11.20"},
        ],
        **changes,
    }


def changed(placed: Order) -> Order:
    """The same order with another currency: another request under the same key."""
    return {**placed, "currency": "EUR"}


def message(placed: Order, suffix: str = "", **overrides: Any) -> ServiceBusMessage:  # noqa: ANN401 - the SDK's own
    """A well-formed message; `overrides` are `ServiceBusMessage` arguments, `body` among them."""
    # An order with a fault may have no hash.
    arguments = {
        "body": json.dumps(placed),
        "message_id": overrides.get("message_id") or message_id(placed, suffix),
        "session_id": str(placed["orderId"]),
        "content_type": "application/json",
        **overrides,
    }
    return ServiceBusMessage(**arguments)
