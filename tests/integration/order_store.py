"""The app's own consumer of orders on the real store, with a clock that stands still between its sleeps."""

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from azure.cosmos.aio import CosmosClient

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import OrderPlaced
from shared.cosmos.client import Database, open_client
from shared.cosmos.store import CosmosStore
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Disposition
from shared.idempotency.engine import Engine
from shared.idempotency.messages import parse_message
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.runtime import SystemRandom
from shared.settings import CosmosSettings
from shared.testing.deliveries import delivery_of
from shared.testing.manual_clock import ManualClock

DATABASE = "ordering"
KEY = "dGhlIGtleSBvZiB0aGUgdGVzdHM="
OTHER_KEY = "YW5vdGhlciBrZXkgb2YgdGhlIHRlc3Rz"


def new_order(order_id: str = "", *, currency: str = "GBP") -> OrderPlaced:
    """An order, by default one that nothing else knows."""
    key = order_id or uuid.uuid4().hex
    body = {
        "schemaVersion": 1,
        "type": "OrderPlaced",
        "orderId": key,
        "operationId": key,
        "sequence": 1,
        "occurredAt": "2026-03-02T10:30:00+01:00",
        "currency": currency,
        "lines": [{"sku": "MUG-01", "description": "Becher, grün", "quantity": 2, "unitPrice": "7.50"}],
    }
    return parse_message(json.dumps(body).encode(), OrderPlaced)


@dataclass
class OrderStore:
    """A client's container with the app's engine on it."""

    database: Database
    container: str = "orders"
    random: SystemRandom = field(default_factory=SystemRandom)
    limits: Limits = field(default_factory=Limits)

    @property
    def store(self) -> CosmosStore:
        """The store under the engine."""
        return CosmosStore(self.database, self.container)

    def within(self, **limits: float) -> "OrderStore":
        """The same with other limits of one delivery."""
        return replace(self, limits=replace(self.limits, **limits))  # type: ignore[arg-type]

    async def handle(self, order: OrderPlaced, *, count: int = 1, suffix: str | None = None) -> Disposition:
        """Deliver the order."""
        engine = Engine(
            consumer=process_order_operation,
            store=TimeLimitedStore(self.store, call_seconds=self.limits.store_call_seconds),
            clock=ManualClock(),
            random=self.random,
            limits=self.limits,
        )
        delivery = delivery_of(process_order_operation, order, delivery_count=count, suffix=suffix)
        return (await engine.handle(delivery)).disposition

    async def documents(self, order: OrderPlaced) -> dict[str, dict[str, Any]]:
        """All documents of an order, by id."""
        found = self.database.container(self.container).query_items("SELECT * FROM c", partition_key=order.order_id)
        return {str(item["id"]): dict(item) async for item in found}


@asynccontextmanager
async def order_store(
    port: int, *, key: str = KEY, container: str = "orders", call_seconds: float = 10
) -> AsyncIterator[OrderStore]:
    """Open a client with the app's options."""
    async with opened_client(port, key=key, call_seconds=call_seconds) as client:
        yield OrderStore(Database(client, DATABASE), container)


@asynccontextmanager
async def opened_client(port: int, *, key: str = KEY, call_seconds: float = 10) -> AsyncIterator[CosmosClient]:
    """As the runtime opens it: nothing is sent before the first call."""
    client = open_client(CosmosSettings(f"http://127.0.0.1:{port}/", key, DATABASE), call_seconds=call_seconds)
    try:
        yield client
    finally:
        await client.close()
