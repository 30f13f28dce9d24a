"""Whose turn it is: the whole table."""

import pytest

from shared.convoy.turns import Early, Next, Refused, Turn, Waiting, turn_of
from shared.idempotency.errors import DeadLetterReason
from shared.idempotency.progress import Progress

NOTHING = Progress()
THREE = Progress(last_sequence=3, parked={5: "five", 6: "six"})
CLOSED = Progress(last_sequence=3, closed=True)


@pytest.mark.parametrize(
    ("progress", "number", "key", "turn"),
    [
        (NOTHING, 1, "a", Next()),
        (NOTHING, 2, "b", Early()),
        (THREE, 4, "four", Next()),
        (THREE, 3, "rival", Refused(DeadLetterReason.SEQUENCE_CONFLICT, "sequence: 3 was taken by another operation")),
        (THREE, 1, "rival", Refused(DeadLetterReason.SEQUENCE_CONFLICT, "sequence: 1 was taken by another operation")),
        (THREE, 5, "five", Waiting()),
        (
            THREE, 5, "rival",
            Refused(
                DeadLetterReason.SEQUENCE_CONFLICT,
                "sequence: 5 is held by another operation, which waits for its turn",
            ),
        ),
        (THREE, 7, "seven", Early()),
        (Progress(last_sequence=3, parked={5: "a", 6: "b", 7: "c"}), 8, "eight",
         Refused(DeadLetterReason.TOO_MANY_PARKED, "sequence: 3 operations wait already for number 4")),
        # The number that the others wait for is never refused.
        (Progress(last_sequence=3, parked={5: "a", 6: "b", 7: "c"}), 4, "four", Next()),
        (CLOSED, 4, "four", Refused(DeadLetterReason.ORDER_CLOSED, "sequence: 4 comes after the last, 3")),
        (CLOSED, 2, "two", Refused(DeadLetterReason.ORDER_CLOSED, "sequence: 2 comes after the last, 3")),
    ],
)  # fmt: skip
def test_the_table(progress: Progress, number: int, key: str, turn: Turn) -> None:
    assert turn_of(progress, number, key, parked_max=3) == turn
