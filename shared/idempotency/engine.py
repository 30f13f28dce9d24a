"""The engine: delivery -> parse -> load -> decide -> commit -> disposition.

Invariants, each at the place where it could be broken:
  - a message is complete only after its commit is known (`_after_commit`, `_by_marker`);
  - an unknown outcome is resolved by reading the marker, never guessed (`ReadMarker`);
  - no passing fault dead-letters: what is not decided within the tries is a `Retry`.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, assert_never

from shared.idempotency.admission import Duplicate, Fresh, Mismatch, OwnWrite, admit
from shared.idempotency.backoff import Limits, pause_before_next_try, wait_before_try
from shared.idempotency.bounded_read import read_in_time
from shared.idempotency.composition import Run, compose
from shared.idempotency.consumer import Consumer
from shared.idempotency.decisions import Apply, Ignore, Reject
from shared.idempotency.disposition import (
    Complete,
    DeadLetter,
    Disposition,
    ReadMarker,
    Retry,
    TryAgain,
    step_after,
)
from shared.idempotency.errors import (
    DeadLetterReason,
    PermanentError,
    StoreAccessError,
    StoreUnavailableError,
    TransientError,
)
from shared.idempotency.keys import check_identifier, check_message_id, check_session_id
from shared.idempotency.messages import BODY_BYTES_MAX, Message, State, parse_message
from shared.idempotency.ports import (
    Clock,
    CommitOutcome,
    Delivery,
    OutcomeUnknown,
    Random,
    Refused,
    Store,
    StoredDocument,
    Write,
)
from shared.idempotency.request_hash import request_hash

MESSAGE_BYTES_MAX: Final = 192 * 1024
"""Largest body of an outgoing message: the Standard tier's 256 KB less up to 64 KB of header.

Source: Service Bus quotas, "Maximum message size" and "Maximum message header size".
"""


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of a delivery, with the ids for the log; None where the message could not be read that far."""

    disposition: Disposition
    key: str | None = None
    partition: str | None = None
    request_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine[M: Message, S: State]:
    """Handles the deliveries of one consumer.

    Attributes:
        consumer: the rules.
        store: of the consumer's container.
        clock: time.
        random: attempt ids and jitter.
        limits: bounds of one delivery.
        body_bytes_max: largest message body taken.
        event_epoch: ends the source of the consumer's events.
    """

    consumer: Consumer[M, S]
    store: Store
    clock: Clock
    random: Random
    limits: Limits
    body_bytes_max: int = BODY_BYTES_MAX
    event_epoch: int = 1

    async def handle(self, delivery: Delivery) -> Handled:
        """Take one delivery to its disposition.

        A crash anywhere in here leaves either nothing or the whole commit; the next delivery finds out which by the
        marker. Every fault of the store is part of the answer; a fault of the consumer's own decision function raises,
        and the delivery is retried by the broker.
        """
        try:
            run = self._read(delivery)
        except PermanentError as error:
            return Handled(DeadLetter(error.reason, error.description))
        try:
            disposition = await self._dispose(run, delivery.delivery_count)
        except StoreAccessError as error:
            disposition = Retry(str(error), alert=True)
        except TransientError as error:
            disposition = Retry(str(error))
        return Handled(disposition, run.key, run.partition, run.request_hash)

    def _read(self, delivery: Delivery) -> Run[M]:
        if delivery.body is None:
            raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, "body: must be AMQP data, not a value or sequence")
        message: M = parse_message(delivery.body, self.consumer.message, bytes_max=self.body_bytes_max)
        key, partition = self.consumer.key(message), self.consumer.partition_of(message)
        check_identifier("key", key)
        check_identifier(self.consumer.documents.partition_field, partition)
        hashed = request_hash(message)
        check_message_id(delivery.message_id, key=key, request_hash=hashed)
        check_session_id(delivery.session_id, partition=partition)
        return Run(
            message=message,
            key=key,
            partition=partition,
            request_hash=hashed,
            attempt_id=self.random.attempt_id(),
            traceparent=delivery.traceparent,
            event_epoch=self.event_epoch,
        )

    async def _dispose(self, run: Run[M], delivery_count: int) -> Disposition:
        if delivery_count > 1:
            # An outage must not skip the wait: without it, the deliveries would be used up within a second.
            with suppress(TransientError):
                if known := await self._by_marker(run):
                    return known
            wait = wait_before_try(delivery_count, limits=self.limits, fraction=self.random.fraction())
            await self.clock.sleep(wait)
        return await self._try(run)

    async def _try(self, run: Run[M]) -> Disposition:
        deadline = self.clock.monotonic() + self.limits.try_seconds
        refusals = 0
        cause = "no try"
        for tries in range(1, self.limits.tries_max + 1):
            try:
                step, refused = await self._try_once(run, refusals)
                refusals += refused
            except StoreUnavailableError as error:
                step = TryAgain(str(error), error.retry_after_seconds)
            if not isinstance(step, TryAgain):
                return step
            cause = step.cause
            pause = pause_before_next_try(tries, limits=self.limits, asked_seconds=step.pause_seconds)
            if tries == self.limits.tries_max or self.clock.monotonic() + pause >= deadline:
                break
            await self.clock.sleep(pause)
        return Retry(cause)

    async def _try_once(self, run: Run[M], refusals: int) -> tuple[Disposition | TryAgain, bool]:
        stored = await self._load(run)
        state = None if stored is None else self.consumer.documents.read_state(stored)
        match self.consumer.decide(state, run.message):
            case Reject(code, detail):
                # A commit of an earlier run may have landed between two reads, and be the very reason for the
                # rejection: no dead letter stands against a marker that is read after the state.
                return await self._by_marker(run) or DeadLetter(code, detail), False
            case Apply() | Ignore() as decision:
                composed = compose(self.consumer, run, decision, stored, self.clock.now())
            case other:
                assert_never(other)
        if composed.message_bytes_max > MESSAGE_BYTES_MAX:
            detail = f"event: larger than the {MESSAGE_BYTES_MAX} bytes that a message carries"
            return await self._by_marker(run) or DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail), False
        outcome = await self._commit(run, composed.writes)
        step = await self._after_commit(run, outcome, refusals)
        if isinstance(decision, Ignore) and step == Complete("applied"):
            step = Complete("ignored")
        return step, isinstance(outcome, Refused)

    async def _after_commit(self, run: Run[M], outcome: CommitOutcome, refusals: int) -> Disposition | TryAgain:
        step = step_after(outcome, refusals=refusals)
        if isinstance(step, ReadMarker):
            # Absent after "exists": the read came from a replica that is behind, or the commit lands later. Either
            # way the next try's create tells.
            return await self._by_marker(run) or TryAgain(step.cause)
        return step

    async def _by_marker(self, run: Run[M]) -> Disposition | None:
        marker = await self._stored(run, self.consumer.marker_id(run.message))
        match admit(None if marker is None else marker.body, run.message, run.attempt_id):
            case Fresh():
                return None
            case OwnWrite():
                return Complete("applied")
            case Duplicate():
                return Complete("duplicate")
            case Mismatch():
                return DeadLetter(
                    DeadLetterReason.REQUEST_HASH_MISMATCH, "the key was taken by a message with other content"
                )
            case other:
                assert_never(other)

    async def _load(self, run: Run[M]) -> StoredDocument | None:
        # What creates its own marker need not look first: if the document exists, the create says so.
        if self.consumer.documents.marks_itself(run.message):
            return None
        return await self._stored(run, run.partition)

    async def _commit(self, run: Run[M], writes: tuple[Write, ...]) -> CommitOutcome:
        try:
            async with asyncio.timeout(self.limits.store_call_seconds):
                return await self.store.commit(run.partition, writes)
        except TimeoutError:
            return OutcomeUnknown("no answer to the commit in time")

    async def _stored(self, run: Run[M], document_id: str) -> StoredDocument | None:
        return await read_in_time(self.store, run.partition, document_id, seconds=self.limits.store_call_seconds)
