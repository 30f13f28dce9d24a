"""What a proof must have met to prove anything: named situations, noted from outside the engine as they occur.

The engine knows nothing of this: a store around the run's own store sees every commit, its outcome, and the marker that
is read after it.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from shared.idempotency.ports import (
    CommitOutcome,
    Conflict,
    Delete,
    Document,
    MarkerExists,
    OutcomeUnknown,
    Store,
    StoredDocument,
    Throttled,
    Write,
)


class Situation(StrEnum):
    """Where a run can go wrong without anybody's noticing."""

    OWN_WRITE = "409, and the marker is the run's own"
    SAME_REQUEST = "409, and the marker is another run's of the same request"
    OTHER_REQUEST = "409, and the marker is another request's"
    MARKER_UNSEEN = "409, and then no marker is found"
    UNKNOWN_APPLIED = "no answer to a commit that was applied"
    UNKNOWN_NOT_APPLIED = "no answer to a commit that was not applied"
    THROTTLED = "a commit is throttled"
    STATE_CHANGED = "the state was replaced between read and commit"
    SETTLEMENT_LOST = "committed, and settled only by the redelivery"
    LOCK_LOST_AFTER_COMMIT = "the redelivery finds what the run without its lock committed"
    LOCK_LOST_BEFORE_COMMIT = "the run without its lock finds what the redelivery committed"
    DIED_ASLEEP = "dies while it waits"
    GAVE_UP = "a delivery uses up its tries"


REACHED_SINGLY: Final = frozenset(
    {
        Situation.OWN_WRITE,
        Situation.SAME_REQUEST,
        Situation.UNKNOWN_APPLIED,
        Situation.UNKNOWN_NOT_APPLIED,
        Situation.THROTTLED,
        Situation.SETTLEMENT_LOST,
        Situation.LOCK_LOST_AFTER_COMMIT,
        Situation.LOCK_LOST_BEFORE_COMMIT,
    }
)
"""What single faults and races bring about wherever a message is taken in."""

REACHED_IN_PAIRS: Final = REACHED_SINGLY | {Situation.MARKER_UNSEEN, Situation.DIED_ASLEEP, Situation.GAVE_UP}
"""What pairs of faults bring about beside that. The others depend on the messages."""


class ObservedStore:
    """The store of one run, that notes which situations the run meets."""

    def __init__(self, store: Store, reached: set[Situation]) -> None:
        """Wrap `store`; situations are added to `reached`."""
        self._store = store
        self._reached = reached
        self._doubted: tuple[Document, CommitOutcome] | None = None

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Point read. See the port."""
        found = await self._store.read(partition, document_id)
        if self._doubted is not None and self._doubted[0]["id"] == document_id:
            self._reached.add(_situation(*self._doubted, None if found is None else found.body))
            self._doubted = None
        return found

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Query. See the port."""
        return await self._store.read_many(partition, document_ids)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Commit. See the port."""
        first = writes[0]
        # What is sent back deletes its marker first: there is nothing to read afterwards.
        marker: Document = {"id": first.document_id} if isinstance(first, Delete) else first.body
        # Stands where the caller stops waiting.
        self._doubted = (marker, OutcomeUnknown("no answer"))
        outcome = await self._store.commit(partition, writes)
        self._doubted = (marker, outcome) if isinstance(outcome, MarkerExists | OutcomeUnknown) else None
        match outcome:
            case Throttled():
                self._reached.add(Situation.THROTTLED)
            case Conflict(412):
                self._reached.add(Situation.STATE_CHANGED)
            case _:
                pass
        return outcome


def _situation(written: Document, outcome: CommitOutcome, found: Document | None) -> Situation:
    refused = isinstance(outcome, MarkerExists)
    if found is None:
        return Situation.MARKER_UNSEEN if refused else Situation.UNKNOWN_NOT_APPLIED
    if found.get("attemptId") == written.get("attemptId"):
        return Situation.OWN_WRITE if refused else Situation.UNKNOWN_APPLIED
    if found.get("requestHash") == written.get("requestHash"):
        return Situation.SAME_REQUEST
    return Situation.OTHER_REQUEST
