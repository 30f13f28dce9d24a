"""Each fault does what its words say, and all points are enumerated."""

import asyncio
from collections.abc import Sequence

import pytest

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import CommitOutcome, Committed, Conflict, Create, MarkerExists, OutcomeUnknown, Throttled
from shared.testing.crash_points import COMMIT_FAULTS, READ_FAULTS, Call, CrashingStore, Fault, Point, one_more
from shared.testing.memory_store import MemoryStore

BATCH = [Create({"id": "op:1", "orderId": "A1"}), Create({"id": "out:1", "orderId": "A1"})]


def crashing(fault: Fault, call: int = 1) -> tuple[MemoryStore, CrashingStore]:
    memory = MemoryStore("/orderId")
    return memory, CrashingStore(memory, [Point(call, fault)])


@pytest.mark.parametrize(
    ("fault", "outcome", "applied"),
    [
        (Fault.FAILS, OutcomeUnknown(Fault.FAILS), False),
        (Fault.THROTTLED, Throttled(0.5), False),
        (Fault.REFUSED_FOR_NOW, Conflict(449), False),
        (Fault.ANSWER_LOST, OutcomeUnknown(Fault.ANSWER_LOST), True),
        (Fault.APPLIED_TWICE, MarkerExists(), True),
        (Fault.LANDS_AFTER_ONE_CALL, OutcomeUnknown(Fault.LANDS_AFTER_ONE_CALL), False),
        (Fault.LANDS_AFTER_TWO_CALLS, OutcomeUnknown(Fault.LANDS_AFTER_TWO_CALLS), False),
    ],
)
async def test_commits_that_answer(fault: Fault, outcome: CommitOutcome, applied: bool) -> None:
    memory, store = crashing(fault)
    assert await store.commit("A1", BATCH) == outcome
    assert bool(memory.documents("A1")) == applied


@pytest.mark.parametrize(("fault", "applied"), [(Fault.CANCELLED, False), (Fault.APPLIED_AND_CANCELLED, True)])
async def test_commits_that_are_cancelled(fault: Fault, applied: bool) -> None:
    memory, store = crashing(fault)
    task = asyncio.ensure_future(store.commit("A1", BATCH))
    await asyncio.wait({task})
    assert task.cancelled()
    assert bool(memory.documents("A1")) == applied


@pytest.mark.parametrize(("fault", "applied"), [(Fault.HANGS, False), (Fault.APPLIED_AND_HANGS, True)])
async def test_commits_that_never_answer(fault: Fault, applied: bool) -> None:
    memory, store = crashing(fault)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await store.commit("A1", BATCH)
    assert bool(memory.documents("A1")) == applied


@pytest.mark.parametrize(("fault", "seconds"), [(Fault.FAILS, 0.0), (Fault.THROTTLED, 0.5)])
async def test_reads_that_fail(fault: Fault, seconds: float) -> None:
    _, store = crashing(fault)
    with pytest.raises(StoreUnavailableError) as caught:
        await store.read("A1", "op:1")
    assert caught.value.retry_after_seconds == seconds


async def test_reads_that_do_not_return() -> None:
    _, store = crashing(Fault.HANGS)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await store.read("A1", "op:1")
    _, store = crashing(Fault.CANCELLED)
    task = asyncio.ensure_future(store.read("A1", "op:1"))
    await asyncio.wait({task})
    assert task.cancelled()


@pytest.mark.parametrize(
    ("fault", "seen"),
    [(Fault.LANDS_AFTER_ONE_CALL, [False, True, True]), (Fault.LANDS_AFTER_TWO_CALLS, [False, False, True])],
)
async def test_a_late_commit_lands_after_so_many_calls(fault: Fault, seen: Sequence[bool]) -> None:
    _, store = crashing(fault)
    await store.commit("A1", BATCH)
    assert [await store.read("A1", "op:1") is not None for _ in seen] == seen


async def test_a_late_commit_may_land_at_the_end() -> None:
    memory, store = crashing(Fault.LANDS_AFTER_TWO_CALLS)
    await store.commit("A1", BATCH)
    await store.land_all()
    assert sorted(memory.documents("A1")) == ["op:1", "out:1"]
    await store.land_all()
    assert memory.commits == 1


async def test_calls_that_no_point_names_go_through() -> None:
    memory, store = crashing(Fault.FAILS, call=3)
    assert await store.read("A1", "op:1") is None
    assert await store.commit("A1", BATCH) == Committed()
    assert await store.commit("A1", BATCH) == OutcomeUnknown(Fault.FAILS)
    assert store.calls == [
        Call(1, "read op:1", READ_FAULTS),
        Call(2, "commit op:1, out:1", COMMIT_FAULTS),
        Call(3, "commit op:1, out:1", COMMIT_FAULTS),
    ]
    assert memory.commits == 1


def test_every_later_point_is_enumerated() -> None:
    calls = [Call(1, "read a", READ_FAULTS), Call(2, "commit a", COMMIT_FAULTS), Call(3, "read b", READ_FAULTS)]
    assert len(list(one_more((), calls))) == 4 + 11 + 4
    first = Point(1, Fault.CANCELLED)
    pairs = list(one_more((first,), calls))
    assert len(pairs) == 11 + 4
    assert pairs[0] == (first, Point(2, Fault.FAILS))
    assert pairs[-1] == (first, Point(3, Fault.CANCELLED))
    assert list(one_more((Point(3, Fault.FAILS),), calls)) == []


def test_a_commit_can_meet_every_fault() -> None:
    assert set(COMMIT_FAULTS) == set(Fault)
    assert set(READ_FAULTS) < set(Fault)
