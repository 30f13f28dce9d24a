"""What is to be done with a bundle, by the document that tells of it. Pure."""

from dataclasses import dataclass
from typing import Final

from shared.fan_out.bundle import Bundle
from shared.idempotency.consumer import DOC_VERSION
from shared.idempotency.disposition import Complete, DeadLetter
from shared.idempotency.errors import DeadLetterReason, NewerVersionError
from shared.idempotency.json_text import Json
from shared.idempotency.ports import StoredDocument
from shared.idempotency.request_hash import same_request

INVALID_LINES: Final = "InvalidLines"
"""Dead-letter reason of a bundle with a faulty line: nothing of it was sent."""

FAULTS_TOLD: Final = 5
"""How many faults stand in the dead letter; its document has them all."""


@dataclass(frozen=True, slots=True)
class Begin:
    """It is new, or takes the place of one that was rejected: record it, then send from the first message on."""

    earlier: StoredDocument | None


@dataclass(frozen=True, slots=True)
class GoOn:
    """Send what is left."""

    stored: StoredDocument
    sent: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Record its faults, then dead-letter it."""

    earlier: StoredDocument | None


@dataclass(frozen=True, slots=True)
class Settled:
    """Nothing is to be written or sent."""

    disposition: Complete | DeadLetter


type Step = Begin | GoOn | Refuse | Settled


def step_of(bundle: Bundle, stored: StoredDocument | None) -> Step:
    """The next step.

    Args:
        bundle: as it was read.
        stored: its document, None where there is none.

    Raises:
        NewerVersionError: the document was written by newer code; retry.
    """
    body = {} if stored is None else stored.body
    version = body.get("docVersion")
    if isinstance(version, int) and version > DOC_VERSION:
        raise NewerVersionError(f"document version {version} is newer than {DOC_VERSION}")
    open_to_all = stored is None or body["state"] == "rejected"
    if bundle.message is None:
        # One that was sent is not touched by another under its key; and faults that are recorded need no second write.
        known = not open_to_all or body.get("faults") == [fault.as_json() for fault in bundle.faults]
        return Settled(refusal(bundle)) if known else Refuse(stored)
    if stored is None or open_to_all:
        return Begin(stored)
    # Hashing a whole bundle again is for a hash of another version alone.
    if body["requestHash"] != bundle.request_hash and not same_request(bundle.message, str(body["requestHash"])):
        return Settled(
            DeadLetter(DeadLetterReason.REQUEST_HASH_MISMATCH, "the key was taken by a message with other content")
        )
    sent = _number(body["sent"])
    return Settled(Complete("duplicate")) if sent == bundle.total else GoOn(stored, sent)


def refusal(bundle: Bundle) -> DeadLetter:
    """The dead letter of a bundle with faulty lines."""
    told = "; ".join(f"line {fault.line}: {fault.text}" for fault in bundle.faults[:FAULTS_TOLD])
    more = len(bundle.faults) - FAULTS_TOLD
    return DeadLetter(INVALID_LINES, f"{told}; and {more} more lines" if more > 0 else told)


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0
