"""Crash points: store calls, sleeps and settlements that go wrong in a chosen way, and the enumeration of all of them.

These are all that a delivery waits for. A worker that dies between two of them leaves what one leaves that dies before
the second; so they are all the points there are.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import (
    Clock,
    CommitOutcome,
    Conflict,
    MarkerExists,
    OutcomeUnknown,
    Store,
    StoredDocument,
    Throttled,
    Write,
    written_id,
)

RETRY_AFTER_SECONDS: Final = 0.5


class Fault(StrEnum):
    """What becomes of one call."""

    FAILS = "fails before it is applied"
    HANGS = "never answers, and is not applied"
    THROTTLED = "is throttled"
    CANCELLED = "is cancelled before it is applied"
    REFUSED_FOR_NOW = "is refused with 449"
    ANSWER_LOST = "is applied, but the answer is lost"
    APPLIED_AND_HANGS = "is applied, but never answers"
    APPLIED_AND_CANCELLED = "is applied, and cancelled before the answer"
    APPLIED_TWICE = "is applied, sent again by the SDK, and answers for the second time"
    LANDS_AFTER_ONE_CALL = "loses its answer, and is applied after the next call"
    LANDS_AFTER_TWO_CALLS = "loses its answer, and is applied after the next two calls"
    MISSES = "finds nothing, on a replica that is behind"


READ_FAULTS: Final = (Fault.FAILS, Fault.HANGS, Fault.THROTTLED, Fault.CANCELLED)
READ_AFTER_409_FAULTS: Final = (*READ_FAULTS, Fault.MISSES)
COMMIT_FAULTS: Final = tuple(fault for fault in Fault if fault is not Fault.MISSES)

SLEEP_FAULTS: Final = (Fault.CANCELLED,)
"""To die after a sleep is to die before the call that follows it."""

SETTLEMENT_FAULTS: Final = (Fault.FAILS,)
"""Refused, unanswered or never made: the message comes again. If the broker did settle, it does not, whoever knows."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made: its number from 1, what it was in words, and what can go wrong with it."""

    number: int
    what: str
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Point:
    """The call with this number meets this fault."""

    call: int
    fault: Fault


class CrashPoints:
    """The points of one history.

    Attributes:
        calls: every call so far, numbered from 1 over the whole history.
    """

    def __init__(self, points: Sequence[Point] = ()) -> None:
        """Calls that no point names, or whose fault they cannot meet, go through."""
        self._faults = {point.call: point.fault for point in points}
        self.calls: list[Call] = []

    def next(self, what: str, faults: Sequence[Fault]) -> Fault | None:
        """Count a call; the fault that it meets, None where it goes through."""
        number = len(self.calls) + 1
        self.calls.append(Call(number, what, faults))
        fault = self._faults.get(number)
        return fault if fault in faults else None


class CrashingClock:
    """A clock whose sleeps are points.

    Attributes:
        died_asleep: whether a sleep was cancelled.
    """

    def __init__(self, clock: Clock, points: CrashPoints) -> None:
        self._clock = clock
        self._points = points
        self.died_asleep = False

    def now(self) -> datetime:
        """The time in UTC."""
        return self._clock.now()

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait, or die asleep."""
        if self._points.next(f"sleep of {seconds:.3g} s", SLEEP_FAULTS) is Fault.CANCELLED:
            self.died_asleep = True
            await _cancelled()
        await self._clock.sleep(seconds)


@dataclass(slots=True)
class _Late:
    partition: str
    writes: Sequence[Write]
    calls_left: int


class CrashingStore:
    """A store whose calls are points."""

    def __init__(self, store: Store, points: CrashPoints) -> None:
        self._store = store
        self._points = points
        self._late: list[_Late] = []
        self._refused = False

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Point read. See the port."""
        fault = await self._next(f"read {document_id}", READ_AFTER_409_FAULTS if self._refused else READ_FAULTS)
        self._refused = False
        if fault is Fault.MISSES:
            return None
        await _meet_as_a_read(fault)
        return await self._store.read(partition, document_id)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Query. See the port."""
        await _meet_as_a_read(await self._next(f"read {', '.join(document_ids)}", READ_FAULTS))
        return await self._store.read_many(partition, document_ids)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Commit. See the port."""
        outcome = await self._commit(partition, writes)
        self._refused = isinstance(outcome, MarkerExists)
        return outcome

    async def land_all(self) -> None:
        """Apply every commit that is still on its way."""
        for late in self._late:
            await self._store.commit(late.partition, late.writes)
        self._late.clear()

    async def _commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        fault = await self._next(f"commit {', '.join(map(written_id, writes))}", COMMIT_FAULTS)
        match fault:
            case Fault.LANDS_AFTER_ONE_CALL | Fault.LANDS_AFTER_TWO_CALLS:
                # One more than the calls it lets pass: it lands before the call that follows them.
                calls_left = 2 if fault is Fault.LANDS_AFTER_ONE_CALL else 3
                self._late.append(_Late(partition, writes, calls_left))
                return OutcomeUnknown(fault)
            case Fault.FAILS:
                return OutcomeUnknown(fault)
            case Fault.HANGS:
                await _for_ever()
            case Fault.THROTTLED:
                return Throttled(RETRY_AFTER_SECONDS)
            case Fault.CANCELLED:
                await _cancelled()
            case Fault.REFUSED_FOR_NOW:
                return Conflict(449)
            case _:
                pass
        outcome = await self._store.commit(partition, writes)
        match fault:
            case Fault.ANSWER_LOST:
                return OutcomeUnknown(fault)
            case Fault.APPLIED_AND_HANGS:
                await _for_ever()
            case Fault.APPLIED_AND_CANCELLED:
                await _cancelled()
            case Fault.APPLIED_TWICE:
                return await self._store.commit(partition, writes)
            case _:
                pass
        return outcome

    async def _next(self, what: str, faults: Sequence[Fault]) -> Fault | None:
        for late in self._late:
            late.calls_left -= 1
            if late.calls_left == 0:
                await self._store.commit(late.partition, late.writes)
        self._late = [late for late in self._late if late.calls_left > 0]
        return self._points.next(what, faults)


def one_more(points: Sequence[Point], calls: Sequence[Call]) -> Iterator[tuple[Point, ...]]:
    """Every history that meets one more fault, after the last of `points`.

    Args:
        points: what the history met.
        calls: the calls that it made; a fault changes those that follow it, so they are taken from a run.
    """
    last = points[-1].call if points else 0
    for call in calls[last:]:
        for fault in call.faults:
            yield (*points, Point(call.number, fault))


async def _meet_as_a_read(fault: Fault | None) -> None:
    """Return where the read goes through."""
    match fault:
        case None:
            return
        case Fault.FAILS:
            raise StoreUnavailableError("crash point: no answer to a read")
        case Fault.THROTTLED:
            raise StoreUnavailableError("crash point: throttled", retry_after_seconds=RETRY_AFTER_SECONDS)
        case Fault.HANGS:
            await _for_ever()
        case Fault.CANCELLED:
            await _cancelled()
    raise AssertionError(f"a read cannot meet: {fault}")


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _cancelled() -> None:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a crash point needs a task to cancel")
    task.cancel()
    await asyncio.sleep(0)
