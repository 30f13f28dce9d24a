"""What the engine adds to a bare loop that commits the same two documents: aim 10 % or less.

Blocks alternate (A B B A), on one store through one client, so that a slow moment meets both.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterator
from statistics import median

from bench.figures import Figure
from bench.placing import deliveries, documents_of_an_order, engine_on, local_store, place_bare, place_by_engine

ROUNDS = 8
BLOCK = 250
AT_ONCE = 16


def run() -> Iterator[Figure]:
    """Measure one order after the other, and sixteen loops at once."""
    for at_once in (1, AT_ONCE):
        bare, engine = asyncio.run(_measure(at_once))
        what = "one after the other" if at_once == 1 else f"{at_once} at once"
        yield Figure(f"{what}: bare loop", bare * 1000, "ms/order")
        yield Figure(f"{what}: engine", engine * 1000, "ms/order")
        yield Figure(f"{what}: engine to bare loop", engine / bare, "ratio")


async def _measure(at_once: int) -> tuple[float, float]:
    """Median seconds per order of the bare loop and of the engine."""
    documents = await documents_of_an_order()
    async with local_store() as (store, container):
        engine = engine_on(store)

        async def bare(block: str) -> float:
            ids = [[f"{block}-{loop}-{number}" for number in range(BLOCK // at_once)] for loop in range(at_once)]
            return await _seconds_per_order([place_bare(container, documents, some) for some in ids])

        async def ours(block: str) -> float:
            made = [deliveries(f"{block}-{loop}", BLOCK // at_once) for loop in range(at_once)]
            return await _seconds_per_order([place_by_engine(engine, some) for some in made])

        await bare("warm-bare")
        await ours("warm-engine")
        bares, engines = list[float](), list[float]()
        for number in range(ROUNDS):
            bares.append(await bare(f"a{number}"))
            engines += [await ours(f"b{number}"), await ours(f"c{number}")]
            bares.append(await bare(f"d{number}"))
        return median(bares), median(engines)


async def _seconds_per_order(loops: list[Awaitable[None]]) -> float:
    started = time.perf_counter()
    await asyncio.gather(*loops)
    return (time.perf_counter() - started) / (BLOCK // len(loops) * len(loops))
