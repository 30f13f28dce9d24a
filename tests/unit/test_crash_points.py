"""Each fault does what its words say, and all points are enumerated."""

import asyncio
from collections.abc import Sequence

import pytest

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import CommitOutcome, Committed, Conflict, Create, MarkerExists, OutcomeUnknown, Throttled
from shared.testing.crash_points import (
    COMMIT_FAULTS,
    READ_AFTER_409_FAULTS,
    READ_FAULTS,
    SETTLEMENT_FAULTS,
    SLEEP_FAULTS,
    Call,
    CrashingClock,
    CrashingStore,
    CrashPoints,
    Fault,
    Point,
    one_more,
)
from shared.testing.manual_clock import ManualClock
from shared.testing.memory_store import MemoryStore

BATCH = [Create({"id": "op:1", "orderId": "A1"}), Create({"id": "out:1", "orderId": "A1"})]


def crashing(fault: Fault, call: int = 1) -> tuple[MemoryStore, CrashingStore]:
    memory = MemoryStore("/orderId")
    return memory, CrashingStore(memory, CrashPoints([Point(call, fault)]))


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
    memory, points = MemoryStore("/orderId"), CrashPoints([Point(3, Fault.FAILS)])
    store = CrashingStore(memory, points)
    assert await store.read("A1", "op:1") is None
    assert await store.commit("A1", BATCH) == Committed()
    assert await store.commit("A1", BATCH) == OutcomeUnknown(Fault.FAILS)
    assert points.calls == [
        Call(1, "read op:1", READ_FAULTS),
        Call(2, "commit op:1, out:1", COMMIT_FAULTS),
        Call(3, "commit op:1, out:1", COMMIT_FAULTS),
    ]
    assert memory.commits == 1


async def test_a_read_after_a_409_may_miss_the_marker_and_no_other_read() -> None:
    memory, points = MemoryStore("/orderId"), CrashPoints([Point(1, Fault.MISSES), Point(4, Fault.MISSES)])
    store = CrashingStore(memory, points)
    memory.put("A1", dict(BATCH[0].body))
    assert await store.read("A1", "op:1") is not None
    assert await store.commit("A1", [Create({"id": "out:1", "orderId": "A1"})]) == Committed()
    assert await store.commit("A1", BATCH) == MarkerExists()
    assert await store.read("A1", "op:1") is None
    assert await store.read("A1", "op:1") is not None
    assert [call.faults for call in points.calls] == [
        READ_FAULTS, COMMIT_FAULTS, COMMIT_FAULTS, READ_AFTER_409_FAULTS, READ_FAULTS,
    ]  # fmt: skip


async def test_a_sleep_can_be_died_in() -> None:
    manual, points = ManualClock(), CrashPoints([Point(2, Fault.CANCELLED)])
    clock = CrashingClock(manual, points)
    await clock.sleep(2)
    assert (clock.died_asleep, clock.monotonic(), clock.now()) == (False, 2, manual.now())
    task = asyncio.ensure_future(clock.sleep(4))
    await asyncio.wait({task})
    assert task.cancelled()
    assert clock.died_asleep
    assert manual.slept == [2]
    assert points.calls == [Call(1, "sleep of 2 s", SLEEP_FAULTS), Call(2, "sleep of 4 s", SLEEP_FAULTS)]


def test_a_point_that_its_call_cannot_meet_goes_through() -> None:
    points = CrashPoints([Point(1, Fault.THROTTLED), Point(2, Fault.FAILS)])
    assert points.next("settlement", SETTLEMENT_FAULTS) is None
    assert points.next("settlement", SETTLEMENT_FAULTS) is Fault.FAILS
    assert points.next("settlement", SETTLEMENT_FAULTS) is None


def test_every_later_point_is_enumerated() -> None:
    calls = [Call(1, "read a", READ_FAULTS), Call(2, "commit a", COMMIT_FAULTS), Call(3, "read b", READ_FAULTS)]
    assert len(list(one_more((), calls))) == 4 + 11 + 4
    first = Point(1, Fault.CANCELLED)
    pairs = list(one_more((first,), calls))
    assert len(pairs) == 11 + 4
    assert pairs[0] == (first, Point(2, Fault.FAILS))
    assert pairs[-1] == (first, Point(3, Fault.CANCELLED))
    assert list(one_more((Point(3, Fault.FAILS),), calls)) == []


def test_a_commit_can_meet_every_fault_of_a_commit() -> None:
    assert set(COMMIT_FAULTS) == set(Fault) - {Fault.MISSES}
    assert set(READ_AFTER_409_FAULTS) == {*READ_FAULTS, Fault.MISSES}
    assert set(READ_FAULTS) < set(COMMIT_FAULTS)
