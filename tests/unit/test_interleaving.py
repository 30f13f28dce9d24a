"""Every order, each once; and the loop that skips idle time."""

import asyncio
import time
from math import comb

import pytest

from shared.idempotency.ports import Store
from shared.testing.interleaving import Choice, Interleaving, following
from shared.testing.memory_store import MemoryStore
from shared.testing.skipping_loop import SkippingLoop


async def orders(*lengths: int) -> list[str]:
    """The orders in which runs of so many store calls make them."""
    found: list[str] = []
    planned: list[int] | None = []
    while planned is not None:
        interleaving = Interleaving(planned)
        made: list[str] = []

        async def run(name: str, length: int, store: Store, calls: list[str]) -> None:
            for _ in range(length):
                await store.read("A1", "op:1")
                calls.append(name)

        stores = [interleaving.gated(MemoryStore("/orderId")) for _ in lengths]
        names = "abc"[: len(lengths)]
        runs = [run(name, length, store, made) for name, length, store in zip(names, lengths, stores, strict=True)]
        await interleaving.run(runs)
        found.append("".join(made))
        planned = following(interleaving.choices)
    return found


async def test_two_runs_of_two_calls() -> None:
    assert await orders(2, 2) == ["aabb", "abab", "abba", "baab", "baba", "bbaa"]


@pytest.mark.parametrize(
    ("lengths", "count"), [((0, 0), 1), ((3, 0), 1), ((1, 1), 2), ((3, 4), comb(7, 3)), ((2, 2, 2), 90)]
)
async def test_there_are_as_many_orders_as_combinatorics_says(lengths: tuple[int, ...], count: int) -> None:
    found = await orders(*lengths)
    assert len(found) == len(set(found)) == count


async def test_a_run_that_raises_is_told_after_all_have_ended() -> None:
    interleaving = Interleaving([])
    stores = [interleaving.gated(MemoryStore("/orderId")) for _ in range(2)]
    ended: list[str] = []

    async def fails() -> None:
        await stores[0].read("A1", "op:1")
        raise LookupError("first")

    async def goes_on() -> None:
        await stores[1].read("A1", "op:1")
        ended.append("second")

    with pytest.raises(LookupError, match="first"):
        await interleaving.run([fails(), goes_on()])
    assert ended == ["second"]


def test_the_plan_that_follows_changes_the_last_choice_that_can_be() -> None:
    assert following([]) is None
    assert following([Choice(0, 1), Choice(0, 1)]) is None
    assert following([Choice(0, 2), Choice(0, 2), Choice(0, 1)]) == [0, 1]
    assert following([Choice(0, 2), Choice(1, 2), Choice(0, 1)]) == [1]
    assert following([Choice(1, 2), Choice(1, 2)]) is None


def test_an_hour_without_anything_to_do_is_over_at_once() -> None:
    async def wait() -> float:
        loop = asyncio.get_running_loop()
        before = loop.time()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.Event().wait()
        return loop.time() - before

    started = time.monotonic()
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        assert runner.run(wait()) == pytest.approx(3600, abs=60)
    assert time.monotonic() - started < 60
