"""One history of deliveries on documents of its own."""

import asyncio
from collections.abc import Sequence
from typing import Final

from shared.convoy.cache import StateCache
from shared.convoy.engine import ConvoyEngine
from shared.idempotency.backoff import Limits
from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Complete, DeadLetter, Disposition, Retry
from shared.idempotency.engine import Engine
from shared.idempotency.errors import DeadLetterReason
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import Document, Store
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.testing.coverage import ObservedStore, Situation
from shared.testing.crash_points import SETTLEMENT_FAULTS, CrashingClock, CrashingStore, CrashPoints, Point
from shared.testing.deliveries import delivery_of
from shared.testing.invariants import (
    InvariantError,
    Result,
    Settled,
    all_documents,
    check_documents,
    check_settlement,
)
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore

HANDLE_SECONDS_MAX: Final = 600.0
"""Longer than the engine's bounds allow any delivery to take; skipped, not waited for."""

LIMITS: Final = Limits(tries_max=2)
"""One fault is tried again, two use the delivery up: both ways of going on are walked."""

_OTHER_HASH: Final = "v1:" + "0" * 64


class History[M: Message, S: State]:
    """One history: messages delivered until settled, on documents of its own.

    Attributes:
        documents: the store itself, where nothing goes wrong.
        crashing: the same store with the crash points.
        points: the crash points; sleeps and settlements meet them too.
        reached: the situations that the history met.
    """

    def __init__(
        self, consumer: Consumer[M, S], points: Sequence[Point] = (), *, reached: set[Situation] | None = None
    ) -> None:
        """A history that meets these points; without `reached`, it notes the situations for itself."""
        self.documents = MemoryStore(consumer.documents.partition_key)
        self.points = CrashPoints(points)
        self.crashing = CrashingStore(self.documents, self.points)
        self.reached: set[Situation] = set() if reached is None else reached
        self._consumer = consumer
        self._clock = ManualClock()
        self._random = SequenceRandom()
        # Of one process: a worker that dies loses it.
        self._cache = StateCache()

    async def deliver(
        self, message: M, *, through: Store, count: int = 1, suffix: str | None = None
    ) -> Disposition | None:
        """One delivery by one worker; None where it was cancelled."""
        clock = CrashingClock(self._clock, self.points)
        engine = self._engine(ObservedStore(through, self.reached), clock)
        delivery = delivery_of(self._consumer, message, delivery_count=count, suffix=suffix)
        task = asyncio.ensure_future(engine.handle(delivery))
        done, _ = await asyncio.wait({task}, timeout=HANDLE_SECONDS_MAX)
        if not done:
            task.cancel()
            raise InvariantError(f"{delivery.message_id}: a delivery never ends")
        if task.cancelled():
            self._cache = StateCache()
            if clock.died_asleep:
                self.reached.add(Situation.DIED_ASLEEP)
            return None
        if error := task.exception():
            if isinstance(error, InvariantError):
                raise error
            raise InvariantError(f"{delivery.message_id}: raised {error!r}") from error
        disposition = task.result().disposition
        if isinstance(disposition, Retry):
            self.reached.add(Situation.GAVE_UP)
        try:
            check_settlement(self._consumer, message, disposition, self._marker(message))
        except InvariantError as violation:
            raise InvariantError(f"{delivery.message_id}: {violation}") from violation
        return disposition

    def _engine(self, store: Store, clock: CrashingClock) -> Engine[M, S]:
        engine = Engine(
            consumer=self._consumer,
            store=TimeLimitedStore(store, call_seconds=LIMITS.store_call_seconds),
            clock=clock,
            random=self._random,
            limits=LIMITS,
        )
        return engine if self._consumer.numbering is None else ConvoyEngine.beside(engine, cache=self._cache)

    async def settle(
        self,
        message: M,
        *,
        through: Store,
        deliveries_max: int = 1,
        first_count: int = 1,
        suffix: str | None = None,
    ) -> Settled:
        """Deliver until the message is settled, as the broker does."""
        last: Disposition | None = None
        for count in range(first_count, first_count + deliveries_max):
            before, last = last, await self.deliver(message, through=through, count=count, suffix=suffix)
            if not isinstance(last, Complete | DeadLetter):
                continue
            if isinstance(before, Complete) and last == Complete("duplicate"):
                self.reached.add(Situation.SETTLEMENT_LOST)
            if self.points.next(f"settlement {count} of {self._consumer.key(message)}", SETTLEMENT_FAULTS) is None:
                return last
        raise InvariantError(
            f"{self._consumer.key(message)}: not settled by {deliveries_max} deliveries; the last ended in {last}"
        )

    async def send_again(self, messages: Sequence[M], settled: Sequence[Settled]) -> None:
        """Resend what was completed: completed again, nothing written."""
        before = all_documents(self.documents)
        for message, first in zip(messages, settled, strict=True):
            # A rejected message left no marker: its resend is decided afresh, on today's state.
            if isinstance(first, Complete):
                again = await self.deliver(message, through=self.documents, suffix="copy1")
                if not isinstance(again, Complete):
                    raise InvariantError(f"{self._consumer.key(message)}: completed, but its resend ends in {again}")
        if all_documents(self.documents) != before:
            raise InvariantError("a resend changed the documents")

    async def send_changed(self, messages: Sequence[M], settled: Sequence[Settled]) -> None:
        """Find another request under each key: dead-lettered, nothing written."""
        for message, first in zip(messages, settled, strict=True):
            if not isinstance(first, Complete):
                continue
            partition, marker_id = self._consumer.partition_of(message), self._consumer.marker_id(message)
            marker = self._marker(message)
            if marker is None:
                raise InvariantError(f"{marker_id}: completed, but there is no marker")
            self.documents.put(partition, {**marker, "requestHash": _OTHER_HASH})
            before = all_documents(self.documents)
            # By a process that has not seen the first: its own would look at the marker before it writes.
            self._cache = StateCache()
            found = await self.deliver(message, through=self.documents, suffix="copy2")
            if not isinstance(found, DeadLetter) or found.reason != DeadLetterReason.REQUEST_HASH_MISMATCH:
                raise InvariantError(f"{marker_id}: another request under its key ends in {found}, not in a mismatch")
            if all_documents(self.documents) != before:
                raise InvariantError(f"{marker_id}: another request under its key changed the documents")
            self.documents.put(partition, marker)

    def _marker(self, message: M) -> Document | None:
        return self.documents.document(self._consumer.partition_of(message), self._consumer.marker_id(message))

    def result(self, messages: Sequence[M], settled: Sequence[Settled]) -> Result:
        """What the history left, held against the invariants."""
        result = Result(all_documents(self.documents), settled)
        check_documents(self._consumer, messages, result)
        return result
