"""What becomes of a delivery, and the one place where a store's outcome is turned into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, assert_never

from shared.idempotency.errors import DeadLetterReason
from shared.idempotency.ports import (
    AccessDenied,
    CommitOutcome,
    Committed,
    Conflict,
    MarkerExists,
    OutcomeUnknown,
    PartitionFull,
    Refused,
    Throttled,
    TooLarge,
)

REFUSALS_MAX: Final = 2
"""How often the store must call a request wrong within one delivery before the message is blamed."""


type CompletedAs = Literal["applied", "duplicate", "ignored", "parked"]


@dataclass(frozen=True, slots=True)
class Complete:
    """Done: the broker may forget the message."""

    outcome: CompletedAs


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Set aside for a person: another delivery cannot help.

    Attributes:
        reason: a `DeadLetterReason` or a consumer's own `Reject` code.
        description: names the field and the rule.
    """

    reason: str
    description: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Not now: the broker delivers again.

    Attributes:
        cause: for the log.
        alert: whether a person must act before it can succeed.
    """

    cause: str
    alert: bool = False


type Disposition = Complete | DeadLetter | Retry


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of a delivery, with the ids for the log; None where the message could not be read that far.

    Attributes:
        disposition: what became of it.
        key: the message's key.
        partition: its partition key value.
        request_hash: its hash.
        sequence: its number within the partition, None where messages are not numbered.
        figures: what was counted on the way, by name: metrics, as docs/telemetry.md lists them.
    """

    disposition: Disposition
    key: str | None = None
    partition: str | None = None
    request_hash: str | None = None
    sequence: int | None = None
    figures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadMarker:
    """The commit's outcome is for the marker to tell."""

    cause: str


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Nothing was written: read and decide again, after a pause that the store asked for."""

    cause: str
    pause_seconds: float = 0.0


type Step = Complete | DeadLetter | Retry | ReadMarker | TryAgain


def step_after(outcome: CommitOutcome, *, refusals: int) -> Step:
    """The next step after a commit.

    Args:
        outcome: what the store said.
        refusals: how often it called the request wrong in this delivery before.
    """
    match outcome:
        case Committed():
            return Complete("applied")
        case MarkerExists():
            return ReadMarker("marker exists")
        case OutcomeUnknown(cause):
            return ReadMarker(cause)
        case Conflict(status):
            return TryAgain(f"conflict {status}")
        case Throttled(retry_after_seconds):
            return TryAgain("throttled", retry_after_seconds)
        case TooLarge(detail):
            return DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail)
        case PartitionFull():
            return DeadLetter(DeadLetterReason.PARTITION_FULL, "the partition is at the store's size limit")
        case Refused(status):
            if refusals + 1 >= REFUSALS_MAX:
                return DeadLetter(DeadLetterReason.STORE_REJECTED, f"the store refused the request with {status}")
            return TryAgain(f"refused {status}")
        case AccessDenied(status):
            return Retry(f"store access denied {status}", alert=True)
        case _:
            assert_never(outcome)
