"""The proof is proven: sound consumers pass, and each broken rule is caught and named."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.idempotency import engine
from shared.idempotency.admission import Admission, Duplicate, Fresh, admit
from shared.idempotency.composition import Run
from shared.idempotency.consumer import Consumer, OutboxMessage
from shared.idempotency.decisions import Apply, Decision, Reject
from shared.idempotency.disposition import Complete, DeadLetter, Retry, Step, TryAgain, step_after
from shared.idempotency.engine import Engine
from shared.idempotency.messages import Event, Message
from shared.idempotency.ports import (
    CommitOutcome,
    Committed,
    Delivery,
    Document,
    MarkerExists,
    OutcomeUnknown,
    Throttled,
    Write,
)
from shared.testing.effectively_once import assert_effectively_once
from tests.unit.example_consumers import (
    ACCOUNTS,
    LOYALTY,
    Account,
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


def broken(messages: Sequence[PointsGranted], consumer: Consumer[PointsGranted, Points] = LOYALTY) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_effectively_once(consumer, messages)
    return str(caught.value)


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


def test_an_engine_that_ignores_the_hash_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def admit_by_key(marker: Document | None, message: Message, attempt_id: str) -> Admission:
        return Fresh() if marker is None else Duplicate()

    monkeypatch.setattr(engine, "admit", admit_by_key)
    assert "copy2: completed as duplicate, but marker op:g1 bears another request" in broken([grant("g1")])
    assert "completed as duplicate, but marker op:g1 bears another request" in broken(
        [grant("g1"), grant("g1", points=7)]
    )


def test_an_engine_that_does_not_know_its_own_write_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says "duplicate" in the log where it applied; what is stored and settled is the same."""
    monkeypatch.setattr(engine, "admit", lambda marker, message, attempt_id: admit(marker, message, "none"))
    assert_effectively_once(LOYALTY, [grant("g1")])


def after(changed_outcome: type[CommitOutcome], step: Step) -> object:
    def changed_step_after(outcome: CommitOutcome, *, refusals: int) -> Step:
        return step if isinstance(outcome, changed_outcome) else step_after(outcome, refusals=refusals)

    return changed_step_after


def test_an_engine_that_settles_on_an_unknown_outcome_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(OutcomeUnknown, Complete("applied")))
    text = broken([grant("g1")])
    assert text.startswith("store call 2 (commit op:g1, c1, out:1)")
    assert "completed as applied, but marker op:g1 is not in the store" in text


def test_an_engine_that_takes_an_existing_marker_for_its_own_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(MarkerExists, Complete("applied")))
    assert "bears another request" in broken([grant("g1"), grant("g1", points=7)])


def test_an_engine_that_never_settles_after_a_resend_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(MarkerExists, Retry("again")))
    monkeypatch.setattr(Engine, "_by_marker", _nothing)
    assert "not settled by" in broken([grant("g1"), grant("g1")])


async def _nothing(*_: object) -> None:
    return None


def test_an_engine_that_gives_up_on_a_conflict_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(MarkerExists, TryAgain("again")))
    assert "not settled by" in broken([grant("g1"), grant("g1")])


def test_an_engine_that_commits_document_by_document_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Engine._commit

    async def commit(
        self: Engine[PointsGranted, Points], run: Run[PointsGranted], writes: tuple[Write, ...]
    ) -> CommitOutcome:
        for write in writes:
            outcome = await sound(self, run, (write,))
            if not isinstance(outcome, Committed):
                return outcome
        return Committed()

    monkeypatch.setattr(Engine, "_commit", commit)
    text = broken([grant("g1")])
    assert text.startswith(
        "store call 2 (commit op:g1) is applied, but the answer is lost: document c1 of c1 is missing"
    )


def test_an_engine_that_dead_letters_a_passing_fault_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(Throttled, DeadLetter("Throttled", "too much at once")))
    text = broken([grant("g1")])
    assert text.startswith("store call 2 (commit op:g1, c1, out:1) is throttled: message 1 is settled as DeadLetter")


def test_an_engine_that_rejects_without_reading_the_marker_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_once(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return add_points(points, message) if points is None else Reject("Taken", "customerId: has points already")

    consumer = replace(LOYALTY, decide=only_once)
    assert_effectively_once(consumer, [grant("g1"), grant("g2")])
    monkeypatch.setattr(Engine, "_by_marker", _nothing)
    text = broken([grant("g1")], consumer)
    assert "dead-lettered Taken, although marker op:g1 is in the store" in text


def test_a_delivery_that_never_ends_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    async def bounded(self: Engine[PointsGranted, Points], reading: object) -> object:
        return await reading  # type: ignore[misc] # without its time-out

    monkeypatch.setattr(Engine, "_bounded", bounded)
    text = broken([grant("g1")])
    assert text.startswith("store call 1 (read c1) never answers, and is not applied")
    assert text.endswith("a delivery never ends")


def test_an_engine_that_skips_the_broker_redelivery_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(self: Engine[Message, Account], delivery: Delivery) -> engine.Handled:
        return engine.Handled(Retry("not today"))

    monkeypatch.setattr(Engine, "handle", handle)
    assert broken([grant("g1")]) == (
        "without any fault: g1: not settled by 1 deliveries; the last ended in Retry(cause='not today', alert=False)"
    )


def test_the_example_adds_up() -> None:
    decision = add_points(Points("c1", 2), grant(points=5))
    assert decision == Apply(Points("c1", 7), (PointsAdded("c1", 5),))
