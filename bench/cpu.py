"""Whose CPU an order takes in the app's process: the SDK's, or ours.

Ours is the engine on the memory store, whose own share is small; the SDK's is the rest of the engine on the real one.
"""

import asyncio
import time
from collections.abc import Iterator

from bench.figures import Figure
from bench.placing import deliveries, engine_on, local_store, place_by_engine
from shared.idempotency.ports import Store
from shared.testing.memory_store import MemoryStore

ORDERS = 2_000
WARM_UP = 200


def run() -> Iterator[Figure]:
    """Measure both."""
    whole, ours = asyncio.run(_measure())
    yield Figure("engine and SDK", whole * 1000, "ms CPU/order")
    yield Figure("of which ours", ours * 1000, "ms CPU/order")
    yield Figure("the SDK's share", (whole - ours) / whole * 100, "%")


async def _measure() -> tuple[float, float]:
    async with local_store() as (store, _):
        whole = await _cpu_seconds_per_order(store)
    return whole, await _cpu_seconds_per_order(MemoryStore("orderId"))


async def _cpu_seconds_per_order(store: Store) -> float:
    engine = engine_on(store)
    await place_by_engine(engine, deliveries("warm", WARM_UP))
    orders = deliveries("measured", ORDERS)
    started = time.process_time()
    await place_by_engine(engine, orders)
    return (time.process_time() - started) / ORDERS
