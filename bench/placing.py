"""New orders placed in this process, by the engine or by a bare loop: what a delivery costs without host and broker."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from azure.cosmos.aio import ContainerProxy

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import Operation
from ordering.orders.order import Order
from samples.request_hash import message_id
from shared.convoy.cache import StateCache
from shared.convoy.engine import ConvoyEngine
from shared.cosmos.client import Database
from shared.cosmos.store import CosmosStore
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete
from shared.idempotency.engine import Engine
from shared.idempotency.ports import Delivery, Document, Store
from shared.runtime import SystemClock, SystemRandom
from shared.testing.memory_store import MemoryStore
from tests.e2e.orders import order
from tests.integration.emulators import emulator
from tests.integration.order_store import DATABASE, KEY, opened_client


@asynccontextmanager
async def local_store() -> AsyncIterator[tuple[CosmosStore, ContainerProxy]]:
    """A local store of its own: the app's store on it, and the SDK's container of the same client."""
    with emulator("cosmos", "--key", KEY) as running:
        async with opened_client(running.port, call_seconds=Limits().store_call_seconds) as client:
            database = Database(client, DATABASE)
            await database.enter()
            yield CosmosStore(database, "orders"), database.container("orders")


def deliveries(prefix: str, count: int) -> list[Delivery]:
    """First deliveries of new orders."""
    return [_delivery(order(f"{prefix}-{number}"), number) for number in range(count)]


def _delivery(placed: dict[str, Any], number: int) -> Delivery:
    return Delivery(
        message_id=message_id(placed),
        session_id=str(placed["orderId"]),
        sequence_number=number,
        delivery_count=1,
        body=json.dumps(placed).encode(),
    )


def engine_on(store: Store) -> Engine[Operation, Order]:
    """The app's engine of orders."""
    engine = Engine(
        consumer=process_order_operation, store=store, clock=SystemClock(), random=SystemRandom(), limits=Limits()
    )
    return ConvoyEngine.beside(engine, cache=StateCache())


async def place_by_engine(engine: Engine[Operation, Order], orders: Iterable[Delivery]) -> None:
    """One after the other.

    Raises:
        RuntimeError: one was not applied: such a figure would be none.
    """
    for delivery in orders:
        handled = await engine.handle(delivery)
        if handled.disposition != Complete("applied"):
            raise RuntimeError(f"not applied: {handled}")


async def documents_of_an_order() -> tuple[Document, Document]:
    """Order and event as the engine writes them, for the bare loop to write the same."""
    store = MemoryStore("orderId")
    (delivery,) = deliveries("template", 1)
    await place_by_engine(engine_on(store), [delivery])
    placed, event = await store.read("template-0", "template-0"), await store.read("template-0", "out:1")
    if placed is None or event is None:
        raise RuntimeError("an order is two documents, order and event")
    return placed.body, event.body


async def place_bare(container: ContainerProxy, documents: tuple[Document, Document], ids: Iterable[str]) -> None:
    """One after the other: the same two documents in one batch, and nothing else."""
    placed, event = documents
    for order_id in ids:
        await container.execute_item_batch(
            [
                ("create", ({**placed, "id": order_id, "orderId": order_id},)),
                ("create", ({**event, "orderId": order_id},)),
            ],
            partition_key=order_id,
        )
