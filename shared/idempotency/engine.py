"""The engine: delivery -> parse -> load -> decide -> commit -> disposition.

Invariants, each at the place where it could be broken:
  - a message is complete only after its commit is known (`_write`, `_by_marker`);
  - an unknown outcome is resolved by reading the marker, never guessed (`ReadMarker`);
  - no passing fault dead-letters: what is not decided within the tries is a `Retry`.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, assert_never

from shared.idempotency.admission import Duplicate, Fresh, Mismatch, OwnWrite, admit
from shared.idempotency.backoff import Limits, wait_before_try
from shared.idempotency.consumer import Consumer, read_document
from shared.idempotency.decisions import Apply, Ignore, Reject
from shared.idempotency.disposition import (
    Complete,
    CompletedAs,
    DeadLetter,
    Disposition,
    Handled,
    ReadMarker,
    TryAgain,
    step_after,
)
from shared.idempotency.draft import Draft, Part
from shared.idempotency.errors import (
    DeadLetterReason,
    PermanentError,
    TransientError,
)
from shared.idempotency.keys import check_identifier, check_message_id, check_session_id, parse_message_id
from shared.idempotency.messages import BODY_BYTES_MAX, Message, State, parse_message
from shared.idempotency.ports import (
    Clock,
    CommitOutcome,
    Conflict,
    Delivery,
    Random,
    Refused,
    Store,
    StoredDocument,
    Write,
)
from shared.idempotency.request_hash import request_hash
from shared.idempotency.run import Run
from shared.idempotency.tries import disposed, tried

MESSAGE_BYTES_MAX: Final = 192 * 1024
"""Largest body of an outgoing message: the Standard tier's 256 KB less up to 64 KB of header.

Source: Service Bus quotas, "Maximum message size" and "Maximum message header size".
"""


@dataclass(slots=True)
class Attempt:
    """What one delivery has learnt from the tries before.

    Attributes:
        tries: how many tries there were, the one under way included.
        refusals: how often the store called a request wrong.
        existing: further documents that were to be created and may exist, with their classes.
    """

    tries: int = 0
    refusals: int = 0
    existing: dict[str, type[State]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine[M: Message, S: State]:
    """Handles the deliveries of one consumer.

    Attributes:
        consumer: the rules.
        store: of the consumer's container; each call must end in time.
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
        disposition = await disposed(self._dispose(run, delivery.delivery_count))
        sequence = None if self.consumer.numbering is None else self.consumer.number_of(run.message)
        return Handled(disposition, run.key, run.partition, run.request_hash, sequence, run.figures)

    def _read(self, delivery: Delivery) -> Run[M]:
        if delivery.body is None:
            raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, "body: must be AMQP data, not a value or sequence")
        message: M = parse_message(delivery.body, self.consumer.message, bytes_max=self.body_bytes_max)
        # Plain text from here on: an Identifier is for messages, not for documents.
        key, partition = str(self.consumer.key(message)), self.consumer.partition_of(message)
        check_identifier("key", key)
        check_identifier(self.consumer.documents.partition_field, partition)
        hashed = request_hash(message)
        check_message_id(delivery.message_id, key=key, request_hash=hashed)
        check_session_id(delivery.session_id, partition=partition)
        run = Run(
            message=message,
            key=key,
            partition=partition,
            request_hash=hashed,
            attempt_id=self.random.attempt_id(),
            traceparent=delivery.traceparent,
            event_epoch=self.event_epoch,
        )
        if parse_message_id(delivery.message_id).hash_prefix is None:
            # The broker may have dropped a changed message under this key without a word.
            run.figures["bare_key"] = 1
        return run

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
        attempt = Attempt()

        async def try_once(number: int) -> Disposition | TryAgain:
            attempt.tries = number
            return await self._try_once(run, attempt)

        return await tried(try_once, clock=self.clock, limits=self.limits)

    async def _try_once(self, run: Run[M], attempt: Attempt) -> Disposition | TryAgain:
        draft = await self._draft(run, await self._load(run), attempt)
        match draft.decide(run.message):
            case Reject(code, detail):
                # A commit of an earlier run may have landed between two reads, and be the very reason for the
                # rejection: no dead letter stands against a marker that is read after the state.
                return await self._by_marker(run) or DeadLetter(code, detail)
            case Apply() as decision:
                return await self._write(run, draft.apply(run, decision), attempt, "applied")
            case Ignore():
                return await self._write(run, draft.ignore(run), attempt, "ignored")
            case other:
                assert_never(other)

    async def _draft(self, run: Run[M], stored: StoredDocument | None, attempt: Attempt) -> Draft[M, S]:
        """An empty draft on the state and the further documents that the message names."""
        named = {**self.consumer.related_of(run.message), **attempt.existing}
        parts = await self._parts(run.partition, named)
        return Draft.of(self.consumer, run.partition, stored, self.clock.now(), parts)

    async def _write(
        self, run: Run[M], draft: Draft[M, S], attempt: Attempt, outcome: CompletedAs
    ) -> Disposition | TryAgain:
        composed = draft.composed()
        if composed.message_bytes_max > MESSAGE_BYTES_MAX:
            detail = f"event: larger than the {MESSAGE_BYTES_MAX} bytes that a message carries"
            return await self._by_marker(run) or DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail)
        committed = await self._commit(run.partition, composed.writes)
        step = step_after(committed, refusals=attempt.refusals)
        match committed:
            case Refused():
                attempt.refusals += 1
            case Conflict(409):
                # One of the further documents exists: it is read, and the message decided again.
                attempt.existing.update(draft.created)
            case _:
                pass
        if isinstance(step, ReadMarker):
            # Absent after "exists": the read came from a replica that is behind, or the commit lands later. Either
            # way the next try's create tells.
            return await self._by_marker(run) or TryAgain(step.cause)
        if isinstance(step, Complete):
            await self._after_commit(run)
            return Complete(outcome)
        return step

    async def _after_commit(self, run: Run[M]) -> None:
        """What is still to be done after a commit before the message is completed."""

    async def _before_completion(self, run: Run[M], marker: StoredDocument) -> None:
        """What is still to be done before a message that was taken in by an earlier commit is completed."""

    async def _by_marker(self, run: Run[M]) -> Disposition | None:
        marker = await self.store.read(run.partition, self.consumer.marker_id(run.message))
        if marker is None:
            return None
        match admit(marker.body, run.message, run.attempt_id):
            case Fresh():
                return None
            case OwnWrite():
                await self._before_completion(run, marker)
                return Complete("applied")
            case Duplicate():
                await self._before_completion(run, marker)
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
        return await self.store.read(run.partition, run.partition)

    async def _commit(self, partition: str, writes: tuple[Write, ...]) -> CommitOutcome:
        return await self.store.commit(partition, writes)

    async def _parts(self, partition: str, named: Mapping[str, type[State]]) -> dict[str, Part]:
        """The further documents that exist: one call, or none."""
        if not named:
            return {}
        if len(named) == 1:
            (document_id,) = named
            found = await self.store.read(partition, document_id)
            stored = {} if found is None else {document_id: found}
        else:
            stored = await self.store.read_many(partition, tuple(named))
        return {
            document_id: Part(read_document(document, named[document_id]), document.etag)
            for document_id, document in stored.items()
        }
