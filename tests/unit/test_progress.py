"""The numbers on the state document: read as they were written, and what is due by them."""

import pytest

from shared.idempotency.progress import Progress

NOW = "2026-03-02T09:30:00Z"


@pytest.mark.parametrize(
    ("progress", "due"),
    [
        (Progress(), ()),
        (Progress(last_sequence=1, parked={2: "b"}), (2,)),
        (Progress(last_sequence=1, parked={3: "c", 2: "b", 5: "e"}), (2, 3)),
        (Progress(last_sequence=1, parked={3: "c"}), ()),
        (Progress(last_sequence=1, parked={9: "i", 3: "c"}, closed=True), (3, 9)),
    ],
)
def test_what_is_due(progress: Progress, due: tuple[int, ...]) -> None:
    assert progress.due == due


def test_it_is_read_as_it_was_written() -> None:
    progress = Progress(
        event_sequence=4, outbox_sequence=5, last_sequence=3, closed=True, parked={5: "e"}, waiting_since=NOW
    ).stamped(NOW)
    assert progress.fields(numbered=True) == {
        "eventSequence": 4, "outboxSequence": 5, "lastSequence": 3, "closed": True, "parked": {"5": "e"},
        "waitingSince": NOW, "drainSince": NOW,
    }  # fmt: skip
    assert Progress.of(progress.fields(numbered=True)) == progress


def test_a_consumer_without_numbers_keeps_two() -> None:
    assert Progress(event_sequence=4, outbox_sequence=5).fields(numbered=False) == {
        "eventSequence": 4,
        "outboxSequence": 5,
    }


def test_the_time_is_that_of_the_oldest_that_waits() -> None:
    one = Progress().park(3, "c", now="first")
    two = one.park(4, "d", now="second")
    assert two.waiting_since == "first"
    assert two.unpark(3).waiting_since == "first"
    assert two.unpark(3).unpark(4).waiting_since is None


def test_the_time_since_when_something_is_due_stays_until_nothing_is() -> None:
    due = Progress(last_sequence=1, parked={2: "b"}).stamped("first")
    assert due.stamped("second").drain_since == "first"
    assert due.unpark(2).stamped("third").drain_since is None
