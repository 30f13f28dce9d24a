"""Whose turn it is. Pure.

In this order: nothing follows a close; a number is given once; what comes early waits, up to a cap.
"""

from dataclasses import dataclass

from shared.idempotency.errors import DeadLetterReason
from shared.idempotency.progress import Progress


@dataclass(frozen=True, slots=True)
class Next:
    """The message is the next in turn."""


@dataclass(frozen=True, slots=True)
class Early:
    """Others come first: the message waits for its turn."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The message, as the state document says, waits already: its marker tells."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The message has no turn, and will have none.

    Attributes:
        reason: why.
        description: names the rule.
    """

    reason: DeadLetterReason
    description: str


type Turn = Next | Early | Waiting | Refused


def turn_of(progress: Progress, number: int, key: str, *, parked_max: int) -> Turn:
    """Judge a message whose marker was not found, or not looked for yet.

    Args:
        progress: of its partition.
        number: the message's.
        key: the message's.
        parked_max: how many may wait at once.
    """
    if progress.closed:
        return Refused(
            DeadLetterReason.ORDER_CLOSED, f"sequence: {number} comes after the last, {progress.last_sequence}"
        )
    if number <= progress.last_sequence:
        return Refused(DeadLetterReason.SEQUENCE_CONFLICT, f"sequence: {number} was taken by another operation")
    if (waiting := progress.parked.get(number)) is not None:
        if waiting == key:
            return Waiting()
        return Refused(
            DeadLetterReason.SEQUENCE_CONFLICT,
            f"sequence: {number} is held by another operation, which waits for its turn",
        )
    if number == progress.last_sequence + 1:
        return Next()
    if len(progress.parked) >= parked_max:
        missing = progress.last_sequence + 1
        return Refused(
            DeadLetterReason.TOO_MANY_PARKED, f"sequence: {parked_max} operations wait already for number {missing}"
        )
    return Early()
