"""The engine for numbered messages: those of a partition apply in exactly their sequence, whatever order they come in.

Invariants, each at the place where it could be broken:
  - no message overtakes what is due before it (`_try_on` drains first);
  - no dead letter is decided on a cached document, nor against a marker that is read after the state (`_try_on`);
  - a message is complete only when nothing is due any more (`_after_commit`, `_before_completion`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Final, assert_never

from shared.convoy.cache import StateCache
from shared.convoy.draining import drained, runs_of
from shared.convoy.turns import Early, Next, Refused, Waiting, turn_of
from shared.idempotency.backoff import pause_before_next_try
from shared.idempotency.decisions import Apply, Ignore, Reject
from shared.idempotency.disposition import DeadLetter, Disposition, TryAgain
from shared.idempotency.draft import Draft
from shared.idempotency.engine import MESSAGE_BYTES_MAX, Attempt, Engine
from shared.idempotency.errors import StoreAccessError, StoreUnavailableError, TransientError
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import (
    AccessDenied,
    CommitOutcome,
    Committed,
    Conflict,
    Delete,
    MarkerExists,
    OutcomeUnknown,
    PartitionFull,
    StoredDocument,
    Throttled,
    TooLarge,
    Write,
    written_id,
)
from shared.idempotency.ports import Refused as RefusedByStore
from shared.idempotency.progress import Progress
from shared.idempotency.run import Run

DRAIN_MESSAGES_MAX: Final = 20
"""Parked messages of one commit: with up to four documents each they stay within the 100 of a batch."""

FAILURES_MAX: Final = 5
"""How often a drain may meet what another process changed meanwhile, or lose an answer, before it gives up."""


class DrainUnfinishedError(TransientError):
    """There is more to drain than one delivery has time for: the next one goes on."""


@dataclass(slots=True)
class Drain:
    """One drain under way.

    Attributes:
        deadline: monotonic; it holds from the second commit on, so that each delivery gets further.
        commits: how many there were.
        messages_max: parked messages of the next commit.
        send_back: whether the next message is sent back undecided.
        failures: commits and queries that came to nothing.
        existing: further documents that were to be created and may exist, with their classes.
    """

    deadline: float
    commits: int = 0
    messages_max: int = DRAIN_MESSAGES_MAX
    send_back: bool = False
    failures: int = 0
    existing: dict[str, type[State]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvoyEngine[M: Message, S: State](Engine[M, S]):
    """Handles the deliveries of one consumer whose messages are numbered.

    Attributes:
        cache: of the consumer's state documents in this process.
    """

    cache: StateCache

    @classmethod
    def beside(cls, engine: Engine[M, S], *, cache: StateCache) -> "ConvoyEngine[M, S]":
        """An engine with the same consumer, store, limits and clock."""
        given = {each.name: getattr(engine, each.name) for each in fields(Engine)}
        return cls(**given, cache=cache)

    async def drain(self, partition: str) -> int:
        """Apply what is due in a partition, for a timer: no message need come for it. Returns how many were due.

        Raises:
            TransientError: it is not finished; a later call goes on.
        """
        figures = Counter[str]()
        await self._drain(partition, None, figures)
        return figures["drained"]

    async def _try_once(self, run: Run[M], attempt: Attempt) -> Disposition | TryAgain:
        if attempt.tries > 1:
            return await self._try_on(run, attempt, await self.store.read(run.partition, run.partition))
        cached = self.cache.get(run.partition)
        if cached is None:
            return await self._try_on(run, attempt, await self._load(run))
        return await self._try_on(run, attempt, cached, is_cached=True)

    async def _try_on(
        self, run: Run[M], attempt: Attempt, stored: StoredDocument | None, *, is_cached: bool = False
    ) -> Disposition | TryAgain:
        progress = _progress(stored)
        if progress.due:
            # What is due goes first, whatever message is in hand.
            stored = await self._drain(run.partition, stored, run.figures)
            progress = _progress(stored)
        number = self.consumer.number_of(run.message)
        match turn_of(progress, number, run.key, parked_max=self.limits.parked_max):
            case Next():
                draft = await self._draft(run, stored, attempt)
                match draft.decide(run.message):
                    case Apply() as decision:
                        return await self._write(run, draft.apply(run, decision), attempt, "applied")
                    case Ignore():
                        return await self._write(run, draft.ignore(run), attempt, "ignored")
                    case Reject(code, detail):
                        verdict: DeadLetter | TryAgain = DeadLetter(code, detail)
                    case other:
                        assert_never(other)
            case Early():
                run.figures["gap"] = number - progress.last_sequence - 1
                run.figures["parked"] = len(progress.parked) + 1
                draft = Draft.of(self.consumer, run.partition, stored, self.clock.now(), {})
                return await self._write(run, draft.park(run, number), attempt, "parked")
            case Waiting():
                verdict = TryAgain("waits, but its marker is not there")
            case Refused(reason, description):
                verdict = DeadLetter(reason, description)
            case other_turn:
                assert_never(other_turn)
        # A message that was taken in before ends by its marker, whatever the state says. And the commit of an earlier
        # run may have landed between two reads, and be the very reason for the verdict.
        if known := await self._by_marker(run):
            return known
        if not is_cached:
            return verdict
        # Only what is written is guarded by the ETag; a verdict is not.
        self.cache.drop(run.partition)
        return await self._try_on(run, attempt, await self.store.read(run.partition, run.partition))

    async def _commit(self, partition: str, writes: tuple[Write, ...]) -> CommitOutcome:
        # Whatever comes of it, cancellation included: only a commit that is known puts a document in.
        self.cache.drop(partition)
        outcome = await Engine._commit(self, partition, writes)
        match outcome:
            case Committed(etags):
                for write, etag in zip(writes, etags, strict=True):
                    if not isinstance(write, Delete) and written_id(write) == partition:
                        self.cache.put(partition, StoredDocument(write.body, etag))
            case _:
                pass
        return outcome

    async def _after_commit(self, run: Run[M]) -> None:
        await self._drain(run.partition, self.cache.get(run.partition), run.figures)

    async def _before_completion(self, run: Run[M], marker: StoredDocument) -> None:
        # A state document that marks itself says by drainSince what other markers say by more.
        if marker.body.get("more") is True or "drainSince" in marker.body:
            await self._drain(run.partition, None, run.figures)

    async def _drain(
        self, partition: str, stored: StoredDocument | None, figures: Counter[str]
    ) -> StoredDocument | None:
        """Apply what is due, commit by commit; returns the state document that leaves nothing due.

        Raises:
            TransientError: it is not finished.
        """
        drain = Drain(self.clock.monotonic() + self.limits.drain_seconds)
        while True:
            if stored is None:
                stored = await self.store.read(partition, partition)
            progress = _progress(stored)
            if stored is None or not progress.due:
                return stored
            if drain.commits and self.clock.monotonic() >= drain.deadline:
                raise DrainUnfinishedError("more is due than one delivery has time for")
            ids = [f"op:{progress.parked[number]}" for number in progress.due[: drain.messages_max]]
            outcome = await self._drain_some(partition, stored, ids, drain)
            match outcome:
                case Committed():
                    drain.send_back = False
                    drain.commits += 1
                    stored = self.cache.get(partition)
                    figures["drained"] += len(progress.parked) - len(_progress(stored).parked)
                    continue
                case TooLarge() | RefusedByStore():
                    # One by one; and one that cannot be written even alone is sent back: its own delivery says why.
                    drain.send_back, drain.messages_max = drain.messages_max == 1, 1
                case Throttled(seconds):
                    raise StoreUnavailableError("drain: throttled", retry_after_seconds=seconds)
                case AccessDenied(status):
                    raise StoreAccessError(f"store access denied {status}")
                case PartitionFull():
                    raise StoreUnavailableError("drain: the partition is at the store's size limit")
                case Conflict() | MarkerExists() | OutcomeUnknown():
                    await self._pause(drain, type(outcome).__name__)
                case _:
                    assert_never(outcome)
            stored = None

    async def _drain_some(
        self, partition: str, stored: StoredDocument, ids: Sequence[str], drain: Drain
    ) -> CommitOutcome:
        """One query of markers and one commit; a marker that is not there, or waits no more, is a conflict."""
        found = await self.store.read_many(partition, ids)
        if any(name not in found or found[name].body.get("state") != "parked" for name in ids):
            return Conflict(404)
        runs = runs_of(self.consumer, partition, [found[name] for name in ids], event_epoch=self.event_epoch)
        named = {name: shape for run in runs for name, shape in self.consumer.related_of(run.message).items()}
        parts = await self._parts(partition, {**named, **drain.existing})
        draft = Draft.of(self.consumer, partition, stored, self.clock.now(), parts)
        draft = drained(draft, runs, {run.key: found[f"op:{run.key}"] for run in runs}, send_back=drain.send_back)
        composed = draft.composed()
        if composed.message_bytes_max > MESSAGE_BYTES_MAX:
            return TooLarge("event")
        outcome = await self._commit(partition, composed.writes)
        if outcome == Conflict(409):
            drain.existing.update(draft.created)
        return outcome

    async def _pause(self, drain: Drain, cause: str) -> None:
        drain.failures += 1
        if drain.failures == FAILURES_MAX:
            raise StoreUnavailableError(f"drain: {cause}")
        await self.clock.sleep(pause_before_next_try(drain.failures, limits=self.limits, asked_seconds=0.0))


def _progress(stored: StoredDocument | None) -> Progress:
    return Progress.of(None if stored is None else stored.body)
