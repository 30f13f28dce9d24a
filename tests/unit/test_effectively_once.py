"""The proof is proven: sound consumers pass, and each broken rule of a consumer is caught and named."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.idempotency.consumer import Consumer, OutboxMessage, StateDocuments
from shared.idempotency.decisions import Apply, Decision
from shared.idempotency.messages import Event, State
from shared.idempotency.ports import (
    Document,
)
from shared.testing.effectively_once import assert_effectively_once
from tests.unit.breaking import broken
from tests.unit.example_consumers import (
    ACCOUNTS,
    LOYALTY,
    AccountOpened,
    OwnerChanged,
    Points,
    PointsAdded,
    PointsGranted,
    add_points,
    changed,
    grant,
    opened,
)

GRANTS: list[Sequence[PointsGranted]] = [
    [grant("g1")],
    [grant("g1"), grant("g1")],
    [grant("g1"), grant("g1", points=7)],
    [grant("g1"), grant("g2")],
    [grant("g1", points=0)],
    [grant("g1", points=-1), grant("g2")],
    [grant("g1"), grant("g2", customer="c2"), grant("g3"), grant("g1"), grant("g2", customer="c2", points=9)],
]


@pytest.mark.parametrize("messages", GRANTS)
def test_a_consumer_with_markers_beside_its_state_passes(messages: Sequence[PointsGranted]) -> None:
    assert_effectively_once(LOYALTY, messages)


@pytest.mark.parametrize(
    "messages",
    [
        [opened()],
        [opened(), opened()],
        [opened(), opened(owner="Eve")],
        [opened(), changed()],
        [changed(), opened()],
        [opened(), changed(), changed(), changed(owner="Eve"), opened()],
    ],
)
def test_a_consumer_whose_state_is_its_marker_passes(messages: Sequence[AccountOpened | OwnerChanged]) -> None:
    assert_effectively_once(ACCOUNTS, messages)


def test_no_messages_prove_nothing() -> None:
    with pytest.raises(ValueError, match="messages: give at least one"):
        assert_effectively_once(LOYALTY, [])


def test_a_decision_that_changes_from_call_to_call_is_caught() -> None:
    numbers = itertools.count()

    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return Apply(Points(message.customer_id, next(numbers)))

    assert broken([grant()], replace(LOYALTY, decide=decide)).startswith(
        "without any fault: decide is not pure: it answers"
    )


def test_a_decision_that_changes_from_run_to_run_is_caught() -> None:
    calls = itertools.count()

    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return Apply(Points(message.customer_id, next(calls) // 2))  # the same for both calls of one run

    assert broken([grant()], replace(LOYALTY, decide=decide)) == (
        "run again without any fault: document c1 of c1 differs: total is 3, without a fault 0"
    )


def test_a_decision_that_raises_is_caught() -> None:
    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        raise LookupError("no such tier")

    assert "raised LookupError('no such tier')" in broken([grant()], replace(LOYALTY, decide=decide))


def test_events_with_numbers_of_their_own_are_caught() -> None:
    class Unnumbered:
        def write(self, event: Event, *, partition: str, number: int, time: object, epoch: int) -> OutboxMessage:
            message: Document = {"messageId": f"{partition}:1~0", "body": {}}
            return OutboxMessage(destination="t", message=message, size_bytes=2)

    text = broken([grant("g1"), grant("g2")], replace(LOYALTY, events=Unnumbered()))
    assert text == "without any fault: outbox documents of c1 share a messageId"


class Diary(State, frozen=True):
    customer_id: str
    entries: list[int]


def test_a_decision_that_changes_the_state_it_is_given_is_caught() -> None:
    def decide(diary: Diary | None, message: PointsGranted) -> Decision[Diary]:
        entries = [] if diary is None else diary.entries
        if len(entries) < 2:
            entries.append(message.points)
        return Apply(Diary(message.customer_id, list(entries)))

    consumer: Consumer[PointsGranted, Diary] = Consumer(
        name="diary",
        queue="points",
        message=PointsGranted,
        key=LOYALTY.key,
        documents=StateDocuments(state=Diary, container="diary", partition_key="/customerId"),
        decide=decide,
        events=LOYALTY.events,
    )
    with pytest.raises(AssertionError, match="decide is not pure"):
        assert_effectively_once(consumer, [grant("g1"), grant("g2")])

    def pop(diary: Diary | None, message: PointsGranted) -> Decision[Diary]:
        if diary is not None:
            diary.entries.clear()
        return Apply(Diary(message.customer_id, [message.points]))

    with pytest.raises(AssertionError, match="decide is not pure: it changes the state that it is given"):
        assert_effectively_once(replace(consumer, decide=pop), [grant("g1"), grant("g2")])


def test_the_example_adds_up() -> None:
    decision = add_points(Points("c1", 2), grant(points=5))
    assert decision == Apply(Points("c1", 7), (PointsAdded("c1", 5),))
