"""Sends on what a bundle holds, in order, in full broker batches, and records after each how far it came.

Invariants, each at the place where it could be broken:
  - nothing is sent of a bundle with a faulty line, or of another under a key that was taken (`step_of`);
  - nothing is recorded that the broker did not accept (`_send_rest`);
  - what is sent begins where the record ends, so that nothing is skipped (`_send_rest`).

A crash anywhere in here leaves a record that is behind by one batch at most: that batch is sent again under the same
MessageIds, dropped by the broker within its duplicate window, and completed as duplicates by its consumer after that.
Two runs at once do no more harm: each sends in order, and the record is guarded by its ETag.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, assert_never

from shared.fan_out.bundle import Bundle
from shared.fan_out.steps import Begin, GoOn, Refuse, Settled, refusal, step_of
from shared.idempotency.backoff import Limits, wait_before_try
from shared.idempotency.disposition import (
    Complete,
    DeadLetter,
    Disposition,
    Handled,
    ReadMarker,
    TryAgain,
    step_after,
)
from shared.idempotency.errors import DeadLetterReason, PermanentError, TransientError
from shared.idempotency.ports import (
    Clock,
    Committed,
    Create,
    Delivery,
    Document,
    Random,
    Refused,
    Replace,
    Store,
    StoredDocument,
)
from shared.idempotency.tries import disposed, tried
from shared.outbox.outgoing import Destination


@dataclass(slots=True)
class _Attempt:
    """What one delivery has learnt: how many messages the broker has accepted, and how often the store refused."""

    accepted: int = 0
    refusals: int = 0
    figures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOutEngine:
    """Handles the deliveries of one queue of bundles.

    Attributes:
        read: reads a delivery; raises `PermanentError` where not even its header can be read.
        store: of the bundles' documents; each call must end in time.
        destination: takes what they hold.
        clock: time.
        random: jitter.
        limits: bounds of one delivery.
    """

    read: Callable[[Delivery], Bundle]
    store: Store
    destination: Destination
    clock: Clock
    random: Random
    limits: Limits

    async def handle(self, delivery: Delivery) -> Handled:
        """Take one delivery to its disposition; every fault of store and broker is part of the answer."""
        try:
            bundle = self.read(delivery)
        except PermanentError as error:
            return Handled(DeadLetter(error.reason, error.description))
        attempt = _Attempt()
        attempt.figures["faulty_lines"] = len(bundle.faults)
        disposition = await disposed(self._dispose(bundle, attempt, delivery.delivery_count))
        return Handled(disposition, bundle.key, bundle.partition, bundle.request_hash, figures={**attempt.figures})

    async def _dispose(self, bundle: Bundle, attempt: _Attempt, delivery_count: int) -> Disposition:
        if delivery_count > 1:
            # An outage must not skip the wait: without it, the deliveries would be used up within a second.
            with suppress(TransientError):
                match step_of(bundle, await self._stored(bundle)):
                    case Settled(disposition):
                        return disposition
                    case Begin() | GoOn() | Refuse():
                        pass
            wait = wait_before_try(delivery_count, limits=self.limits, fraction=self.random.fraction())
            await self.clock.sleep(wait)

        async def try_once(number: int) -> Disposition | TryAgain:
            # A new one is recorded without looking first: if there is a record, the create says so.
            is_new = delivery_count == 1 and number == 1
            return await self._try_on(bundle, attempt, None if is_new else await self._stored(bundle))

        return await tried(try_once, clock=self.clock, limits=self.limits)

    async def _try_on(self, bundle: Bundle, attempt: _Attempt, stored: StoredDocument | None) -> Disposition | TryAgain:
        match step_of(bundle, stored):
            case Settled(Complete()) if attempt.accepted:
                # The last record's answer was lost.
                return Complete("applied")
            case Settled(disposition):
                return disposition
            case Refuse(earlier):
                document = bundle.rejected(self.clock.now(), None if earlier is None else earlier.body)
                recorded = await self._record(bundle, attempt, document, earlier)
                return refusal(bundle) if isinstance(recorded, StoredDocument) else recorded
            case Begin(earlier):
                document = bundle.sent(0, self.clock.now(), None if earlier is None else earlier.body)
                recorded = await self._record(bundle, attempt, document, earlier)
                if not isinstance(recorded, StoredDocument):
                    return recorded
                return await self._send_rest(bundle, attempt, recorded, 0)
            case GoOn(found, sent):
                return await self._send_rest(bundle, attempt, found, sent)
            case other:
                assert_never(other)

    async def _send_rest(
        self, bundle: Bundle, attempt: _Attempt, stored: StoredDocument, sent: int
    ) -> Disposition | TryAgain:
        # What this delivery knows to be accepted need not be sent again, even where it could not be recorded.
        sent = max(sent, attempt.accepted)
        while _recorded(stored) < bundle.total:
            if sent < bundle.total:
                accepted = await self.destination.send_batch(bundle.messages[sent:])
                if accepted == 0:
                    detail = f"line {sent + 1}: larger than the queue takes"
                    return DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail)
                sent = attempt.accepted = sent + accepted
                attempt.figures["batches"] += 1
                attempt.figures["sent"] += accepted
            document = bundle.sent(sent, self.clock.now(), stored.body)
            recorded = await self._record(bundle, attempt, document, stored)
            if not isinstance(recorded, StoredDocument):
                return recorded
            stored = recorded
        return Complete("applied")

    async def _record(
        self, bundle: Bundle, attempt: _Attempt, document: Document, earlier: StoredDocument | None
    ) -> StoredDocument | Disposition | TryAgain:
        """Write the bundle's document; returns it as stored, or what follows from its not being written."""
        write = Create(document) if earlier is None else Replace(document, earlier.etag)
        outcome = await self.store.commit(bundle.partition, (write,))
        step = step_after(outcome, refusals=attempt.refusals)
        match outcome:
            case Committed(etags):
                return StoredDocument(document, etags[0])
            case Refused():
                attempt.refusals += 1
            case _:
                pass
        # Whether it was written, and by whom, is for the document to tell.
        return TryAgain(step.cause) if isinstance(step, ReadMarker) else step

    async def _stored(self, bundle: Bundle) -> StoredDocument | None:
        return await self.store.read(bundle.partition, bundle.document_id)


def _recorded(stored: StoredDocument) -> int:
    sent: Final = stored.body["sent"]
    return sent if isinstance(sent, int) else 0
