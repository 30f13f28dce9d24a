"""Store calls and written documents per path: what a message costs."""

import pytest

from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Complete
from tests.unit.example_consumers import ACCOUNTS, LOYALTY, Account, AccountOpened, OwnerChanged, grant, opened
from tests.unit.scripted_store import Bench

type Messages = AccountOpened | OwnerChanged

NEW: Consumer[Messages, Account] = ACCOUNTS


def spent(bench: Bench[Messages, Account]) -> tuple[int, int]:
    return bench.memory.calls, bench.memory.writes


async def test_a_new_order_with_its_event() -> None:
    bench = Bench(NEW)
    await bench.handle(opened())
    assert spent(bench) == (1, 2)


@pytest.mark.parametrize(("count", "suffix", "calls"), [(1, "copy1", 2), (2, None, 1)])
async def test_a_duplicate_on_its_first_delivery_and_on_a_redelivery(
    count: int, suffix: str | None, calls: int
) -> None:
    bench = Bench(NEW)
    await bench.handle(opened())
    before = spent(bench)
    assert (await bench.handle(opened(), count=count, suffix=suffix)).disposition == Complete("duplicate")
    assert spent(bench) == (before[0] + calls, before[1])


async def test_a_redelivery_that_was_not_applied() -> None:
    bench = Bench(NEW)
    assert (await bench.handle(opened(), count=2)).disposition == Complete("applied")
    assert spent(bench) == (1 + 1, 2)


async def test_an_operation_on_a_state_that_is_not_cached() -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1"))
    assert (bench.memory.calls, bench.memory.writes) == (2, 3)
    await bench.handle(grant("g2"))
    assert (bench.memory.calls, bench.memory.writes) == (4, 6)
