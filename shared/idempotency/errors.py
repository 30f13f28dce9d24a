"""Errors by what the caller must do with them.

    ReliabilityError
    |-- TransientError      deliver again; never a dead letter
    |   |-- StoreUnavailableError    the store did not answer, or throttles
    |   |-- StoreAccessError         the store refuses us: an operator's mistake, alert
    |   |-- NewerVersionError        written by newer code: a rolling upgrade
    |   `-- BrokerUnavailableError   the broker did not take a message
    |-- PermanentError      dead-letter with its reason: another try cannot help
    `-- ConfigurationError  the app cannot run as it is set up

Errors carry ids, never bodies.
"""

from enum import StrEnum


class DeadLetterReason(StrEnum):
    """Why the core dead-letters a message. The values are a public contract: alerts and runbooks name them.

    A consumer's own `Reject` codes stand beside these.
    """

    MALFORMED_MESSAGE = "MalformedMessage"
    INVALID_MESSAGE = "InvalidMessage"
    INVALID_IDENTIFIER = "InvalidIdentifier"
    UNKNOWN_SCHEMA_VERSION = "UnknownSchemaVersion"
    MESSAGE_ID_MISMATCH = "MessageIdMismatch"
    SESSION_ID_MISMATCH = "SessionIdMismatch"
    REQUEST_HASH_MISMATCH = "RequestHashMismatch"
    PAYLOAD_TOO_LARGE = "PayloadTooLarge"
    PARTITION_FULL = "PartitionFull"
    STORE_REJECTED = "StoreRejected"
    SEQUENCE_CONFLICT = "SequenceConflict"
    ORDER_CLOSED = "OrderClosed"
    TOO_MANY_PARKED = "TooManyParked"


class ReliabilityError(Exception):
    """Root of the core's errors."""


class TransientError(ReliabilityError):
    """Passing: try again, and let the broker deliver again when the tries are used up.

    Attributes:
        retry_after_seconds: how long the other side asked us to wait; 0 where it said nothing.
    """

    def __init__(self, message: str, *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StoreUnavailableError(TransientError):
    """The store did not answer a read in time, refused it for now, or was not reached."""


class StoreAccessError(TransientError):
    """The store refuses our identity, or the container is missing. Retried, and logged as an error for the alert."""


class NewerVersionError(TransientError):
    """A document or hash was written by newer code than this. Never written over; a newer instance takes it."""


class BrokerUnavailableError(TransientError):
    """The broker did not confirm a send. The message may or may not be there: send it again, with the same id."""


class PermanentError(ReliabilityError):
    """The message itself is at fault: dead-letter it.

    Attributes:
        reason: one of `DeadLetterReason`.
        description: names the field and the rule; never a body.
    """

    def __init__(self, reason: DeadLetterReason, description: str) -> None:
        super().__init__(f"{reason}: {description}")
        self.reason = reason
        self.description = description


class ConfigurationError(ReliabilityError):
    """A setting or a registration is wrong; the text names it and the fix. Raised before any message is taken."""


def unknown_continuation() -> PermanentError:
    """What a search says of a continuation that it did not give."""
    return PermanentError(
        DeadLetterReason.INVALID_MESSAGE, "continuation: must be the one that came with the page before"
    )
