"""The proof is proven: each rule taken out of the engine is caught, and the text names the fault and the point."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.idempotency import engine
from shared.idempotency.admission import Admission, Duplicate, Fresh, admit
from shared.idempotency.decisions import Apply, Decision, Reject
from shared.idempotency.disposition import (
    Complete,
    DeadLetter,
    Disposition,
    Handled,
    Retry,
    Step,
    TryAgain,
    step_after,
)
from shared.idempotency.engine import Engine
from shared.idempotency.messages import Message
from shared.idempotency.ports import (
    CommitOutcome,
    Committed,
    Create,
    Delivery,
    Document,
    MarkerExists,
    OutcomeUnknown,
    Replace,
    Store,
    Throttled,
    Write,
    written_id,
)
from shared.idempotency.run import Run
from shared.testing import effectively_once, history
from shared.testing.effectively_once import assert_effectively_once
from shared.testing.memory_store import MemoryStore
from tests.unit.breaking import broken
from tests.unit.example_consumers import (
    LOYALTY,
    Account,
    Points,
    PointsGranted,
    add_points,
    grant,
)


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
    assert text.startswith("call 2 (commit op:g1, c1, out:1)")
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

    async def commit(self: Engine[PointsGranted, Points], partition: str, writes: tuple[Write, ...]) -> CommitOutcome:
        for write in writes:
            outcome = await sound(self, partition, (write,))
            if not isinstance(outcome, Committed):
                return outcome
        return Committed()

    monkeypatch.setattr(Engine, "_commit", commit)
    text = broken([grant("g1")])
    assert text.startswith("call 2 (commit op:g1) is applied, but the answer is lost: document c1 of c1 is missing")


def test_an_engine_that_dead_letters_a_passing_fault_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "step_after", after(Throttled, DeadLetter("Throttled", "too much at once")))
    text = broken([grant("g1")])
    assert text.startswith("call 2 (commit op:g1, c1, out:1) is throttled: message 1 is settled as DeadLetter")


def test_an_engine_that_rejects_without_reading_the_marker_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_once(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return add_points(points, message) if points is None else Reject("Taken", "customerId: has points already")

    consumer = replace(LOYALTY, decide=only_once)
    assert_effectively_once(consumer, [grant("g1"), grant("g2")])
    monkeypatch.setattr(Engine, "_by_marker", _nothing)
    text = broken([grant("g1")], consumer)
    assert "dead-lettered Taken, although marker op:g1 is in the store" in text


def test_a_delivery_that_never_ends_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlimited(store: Store, *, call_seconds: float) -> Store:
        return store

    monkeypatch.setattr(history, "TimeLimitedStore", unlimited)
    text = broken([grant("g1")])
    assert text.startswith("call 1 (read c1) never answers, and is not applied")
    assert text.endswith("a delivery never ends")


def test_an_engine_that_fails_on_the_second_crash_only_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Engine._dispose

    async def dispose(self: Engine[PointsGranted, Points], run: Run[PointsGranted], count: int) -> Disposition:
        return Complete("applied") if count == 3 else await sound(self, run, count)

    monkeypatch.setattr(Engine, "_dispose", dispose)
    text = broken([grant("g1")])
    assert text.count("call ") == 2
    assert "completed as applied, but marker op:g1 is not in the store" in text


def test_an_engine_that_looks_and_then_writes_is_caught_by_races_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = MemoryStore.commit

    async def commit_unless_there(self: MemoryStore, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        if written_id(writes[0]) in self.documents(partition):
            return await whole(self, partition, writes[1:])
        return await whole(self, partition, writes)

    sound = Engine._dispose

    async def look_first(self: Engine[PointsGranted, Points], run: Run[PointsGranted], count: int) -> Disposition:
        return await sound(self, run, max(count, 2))

    monkeypatch.setattr(MemoryStore, "commit", commit_unless_there)
    monkeypatch.setattr(Engine, "_dispose", look_first)
    monkeypatch.setattr(effectively_once, "_with_crash_points", _nothing)
    text = broken([grant("g1")])
    assert text.startswith("message 1: a run without its lock beside the redelivery, in the order ")
    assert "is surplus" in text or "differs: " in text


def test_a_state_that_is_replaced_whatever_its_etag_is_caught_by_the_next_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = MemoryStore.commit

    async def commit_blindly(self: MemoryStore, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        blind: list[Write] = []
        for write in writes:
            found = await self.read(partition, written_id(write))
            blind.append(Replace(write.body, found.etag) if isinstance(write, Replace) and found else write)
        return await whole(self, partition, blind)

    def quiet(points: Points | None, message: PointsGranted) -> Decision[Points]:
        decision = add_points(points, message)
        return replace(decision, events=()) if isinstance(decision, Apply) else decision

    # Without events: their ids would collide, and tell on the store.
    consumer = replace(LOYALTY, decide=quiet)
    messages = [grant("g0", points=1), grant("g1", points=10), grant("g2", points=100)]
    monkeypatch.setattr(MemoryStore, "commit", commit_blindly)
    monkeypatch.setattr(effectively_once, "_with_crash_points", _nothing)
    text = broken(messages, consumer)
    assert text.startswith("message 2: a run without its lock beside message 3, in the order ")
    assert "document c1 of c1 differs: total is" in text


def test_an_engine_that_judges_a_lost_settlement_anew_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Engine._dispose

    async def dispose(self: Engine[PointsGranted, Points], run: Run[PointsGranted], count: int) -> Disposition:
        found = await sound(self, run, count)
        return DeadLetter("TooLate", "deliveryCount: must be 1") if found == Complete("duplicate") else found

    monkeypatch.setattr(Engine, "_dispose", dispose)
    assert "dead-lettered TooLate, although marker op:g1 is in the store" in broken([grant("g1")])


def test_an_engine_that_notes_resends_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Engine._by_marker

    async def by_marker(self: Engine[PointsGranted, Points], run: Run[PointsGranted]) -> Disposition | None:
        found = await sound(self, run)
        if found == Complete("duplicate"):
            note: Document = {"id": f"seen:{run.attempt_id}", "customerId": run.partition}
            await self.store.commit(run.partition, [Create(note)])
        return found

    monkeypatch.setattr(Engine, "_by_marker", by_marker)
    assert broken([grant("g1")]) == "without any fault: a resend changed the documents"


def test_an_engine_that_skips_the_broker_redelivery_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(self: Engine[Message, Account], delivery: Delivery) -> Handled:
        return Handled(Retry("not today"))

    monkeypatch.setattr(Engine, "handle", handle)
    assert broken([grant("g1")]) == (
        "without any fault: g1: not settled by 1 deliveries; the last ended in Retry(cause='not today', alert=False)"
    )
