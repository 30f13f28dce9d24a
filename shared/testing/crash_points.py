"""Crash points: a store whose n-th call goes wrong in a chosen way, and the enumeration of all of them.

A worker that dies between two store calls leaves what one leaves that dies before the second; so the store calls are
all the points there are.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import CommitOutcome, Conflict, OutcomeUnknown, Store, StoredDocument, Throttled, Write

RETRY_AFTER_SECONDS: Final = 0.5


class Fault(StrEnum):
    """What becomes of one store call."""

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


READ_FAULTS: Final = (Fault.FAILS, Fault.HANGS, Fault.THROTTLED, Fault.CANCELLED)
COMMIT_FAULTS: Final = tuple(Fault)


@dataclass(frozen=True, slots=True)
class Call:
    """A store call that was made: its number from 1, what it was in words, and what can go wrong with it."""

    number: int
    what: str
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Point:
    """The call with this number meets this fault."""

    call: int
    fault: Fault


@dataclass(slots=True)
class _Late:
    partition: str
    writes: Sequence[Write]
    calls_left: int


class CrashingStore:
    """A store around another one, with crash points.

    Attributes:
        calls: every call so far, numbered over the whole life of the store.
    """

    def __init__(self, store: Store, points: Sequence[Point]) -> None:
        """Wrap `store`; calls that no point names, or whose fault they cannot meet, go through."""
        self._store = store
        self._faults = {point.call: point.fault for point in points}
        self._late: list[_Late] = []
        self.calls: list[Call] = []

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Point read. See the port."""
        fault = await self._next(f"read {document_id}", READ_FAULTS)
        match fault:
            case None:
                return await self._store.read(partition, document_id)
            case Fault.FAILS:
                raise StoreUnavailableError("crash point: no answer to a read")
            case Fault.THROTTLED:
                raise StoreUnavailableError("crash point: throttled", retry_after_seconds=RETRY_AFTER_SECONDS)
            case Fault.HANGS:
                await _for_ever()
            case Fault.CANCELLED:
                await _cancelled()
        raise AssertionError(f"a read cannot meet: {fault}")

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Commit. See the port."""
        fault = await self._next(f"commit {', '.join(str(write.body['id']) for write in writes)}", COMMIT_FAULTS)
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

    async def land_all(self) -> None:
        """Apply every commit that is still on its way."""
        for late in self._late:
            await self._store.commit(late.partition, late.writes)
        self._late.clear()

    async def _next(self, what: str, faults: Sequence[Fault]) -> Fault | None:
        number = len(self.calls) + 1
        self.calls.append(Call(number, what, faults))
        for late in self._late:
            late.calls_left -= 1
            if late.calls_left == 0:
                await self._store.commit(late.partition, late.writes)
        self._late = [late for late in self._late if late.calls_left > 0]
        fault = self._faults.get(number)
        return fault if fault in faults else None


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


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _cancelled() -> None:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a crash point needs a task to cancel")
    task.cancel()
    await asyncio.sleep(0)
