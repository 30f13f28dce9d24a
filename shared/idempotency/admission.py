"""Whether a message is new, by its marker. Pure."""

from dataclasses import dataclass

from shared.idempotency.messages import Message
from shared.idempotency.ports import Document
from shared.idempotency.request_hash import same_request


@dataclass(frozen=True, slots=True)
class Fresh:
    """The document is no marker yet: the message was not taken in."""


@dataclass(frozen=True, slots=True)
class OwnWrite:
    """The marker is this very run's: its commit went through although the answer said otherwise."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same request was taken in before."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The key was taken by another request."""


type Admission = Fresh | OwnWrite | Duplicate | Mismatch


def admit(marker: Document, message: Message, attempt_id: str) -> Admission:
    """Judge a message by its marker.

    Args:
        marker: the stored marker document.
        message: the message in hand.
        attempt_id: of the run in hand.

    Raises:
        NewerVersionError: the marker's hash was written by newer code; retry.
    """
    if marker.get("lastSequence") == 0:
        # A state document that waits for the message that creates it: it holds others, and marks none.
        return Fresh()
    if marker.get("attemptId") == attempt_id:
        return OwnWrite()
    stored = marker.get("requestHash")
    if isinstance(stored, str) and same_request(message, stored):
        return Duplicate()
    return Mismatch()
