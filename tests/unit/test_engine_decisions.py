"""What the engine makes of a consumer's decision."""

from dataclasses import replace

import pytest

from shared.idempotency.decisions import Apply, Decision, Ignore, Reject
from shared.idempotency.disposition import Complete, DeadLetter
from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.messages import Event
from shared.idempotency.ports import Conflict
from tests.unit.example_consumers import LOYALTY, Account, Points, PointsGranted, grant
from tests.unit.scripted_store import After, Bench, Script


class Told(Event, frozen=True):
    text: str


async def test_a_rejected_message_is_dead_lettered_and_writes_nothing() -> None:
    bench = Bench(LOYALTY)
    handled = await bench.handle(grant("g1", points=-1))
    assert handled.disposition == DeadLetter("NotPositive", "points: must be 0 or more")
    assert (handled.key, handled.partition) == ("g1", "c1")
    assert bench.store.calls == ["read c1", "read op:g1"]
    assert bench.memory.documents("c1") == {}


def once_only(points: Points | None, message: PointsGranted) -> Decision[Points]:
    return Apply(Points("c1", 1)) if points is None else Reject("Taken", "customerId: has points")


async def test_no_rejection_stands_against_a_commit_of_an_earlier_run() -> None:
    consumer = replace(LOYALTY, decide=once_only)
    earlier = Bench(consumer)

    async def land() -> None:
        assert (await earlier.handle(grant("g1"))).disposition == Complete("applied")

    # The first delivery timed out; its commit lands while the second reads the state.
    bench = Bench(consumer, {2: After(land)}, beside=earlier)
    assert (await bench.handle(grant("g1"), count=2)).disposition == Complete("duplicate")
    assert bench.store.calls == ["read op:g1", "read c1", "read op:g1"]
    assert (await bench.handle(grant("g2"))).disposition == DeadLetter("Taken", "customerId: has points")


def large_the_second_time(points: Points | None, message: PointsGranted) -> Decision[Points]:
    return Apply(Points("c1", 1), () if points is None else [Told("x" * 200_000)])


async def test_no_event_is_too_large_against_a_commit_of_an_earlier_run() -> None:
    consumer = replace(LOYALTY, decide=large_the_second_time)
    earlier = Bench(consumer)

    async def land() -> None:
        assert (await earlier.handle(grant("g1"))).disposition == Complete("applied")

    bench = Bench(consumer, {2: After(land)}, beside=earlier)
    assert (await bench.handle(grant("g1"), count=2)).disposition == Complete("duplicate")
    assert bench.store.calls == ["read op:g1", "read c1", "read op:g1"]


async def test_an_unreadable_marker_does_not_let_a_rejection_stand() -> None:
    bench = Bench(LOYALTY, {2: StoreUnavailableError("no answer")})
    assert isinstance((await bench.handle(grant("g1", points=-1))).disposition, DeadLetter)
    assert bench.store.calls == ["read c1", "read op:g1"] * 2


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (Points("c2", 1), "decide returned a state whose customerId is not the message's"),
        (Account("c1", "x"), "decide returned a Account, not a Points"),
        (None, "decide returned a NoneType, not a Points"),
    ],
)
async def test_a_state_that_is_not_the_messages_is_never_written(state: Points, fault: str) -> None:
    bench = Bench(replace(LOYALTY, decide=lambda points, message: Apply(state)))
    with pytest.raises((TypeError, ValueError), match=fault):
        await bench.handle(grant("g1"))
    assert bench.memory.documents("c1") == {}


@pytest.mark.parametrize("code", ["", "notPascal", "Not Pascal", "Ünicode", "X" * 65, "A-B"])
def test_a_rejection_has_a_name_for_runbooks(code: str) -> None:
    with pytest.raises(ValueError, match="code: must be PascalCase, up to 64 letters and digits"):
        Reject(code, "x")


async def test_an_ignored_message_leaves_its_marker() -> None:
    bench = Bench(LOYALTY)
    assert (await bench.handle(grant("g1", points=0))).disposition == Complete("ignored")
    assert list(bench.memory.documents("c1")) == ["op:g1"]
    assert (await bench.handle(grant("g1", points=0), suffix="copy1")).disposition == Complete("duplicate")
    assert (await bench.handle(grant("g1", points=5))).disposition == DeadLetter(
        "RequestHashMismatch", "the key was taken by a message with other content"
    )


async def test_a_decision_that_raises_is_the_brokers_to_retry() -> None:
    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        raise LookupError("no such tier")

    bench = Bench(replace(LOYALTY, decide=decide))
    with pytest.raises(LookupError, match="no such tier"):
        await bench.handle(grant("g1"))
    assert bench.memory.documents("c1") == {}


@pytest.mark.parametrize(("size", "fits"), [(196_000, True), (196_608, False)])
async def test_an_event_must_fit_a_message(size: int, fits: bool) -> None:
    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return Apply(Points("c1"), (Told("x"), Told("x" * size)))

    bench = Bench(replace(LOYALTY, decide=decide))
    disposition = (await bench.handle(grant("g1"))).disposition
    if fits:
        assert disposition == Complete("applied")
        return
    assert isinstance(disposition, DeadLetter)
    assert disposition.reason == "PayloadTooLarge"
    assert disposition.description == "event: larger than the 196608 bytes that a message carries"
    assert bench.memory.documents("c1") == {}


async def test_more_documents_than_a_batch_takes() -> None:
    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return Apply(Points("c1"), [Told("x")] * 99)

    bench = Bench(replace(LOYALTY, decide=decide))
    disposition = (await bench.handle(grant("g1"))).disposition
    assert disposition == DeadLetter("PayloadTooLarge", "101 documents, a batch takes 100")
    assert bench.memory.documents("c1") == {}


async def test_a_decision_may_be_another_one_after_a_conflict() -> None:
    def decide(points: Points | None, message: PointsGranted) -> Decision[Points]:
        return Apply(Points("c1", 1)) if points is None else Ignore("late")

    consumer = replace(LOYALTY, decide=decide)
    other = Bench(consumer)

    async def overtake() -> None:
        assert (await other.handle(grant("g0"))).disposition == Complete("applied")

    script: dict[int, Script] = {2: After(overtake)}
    bench = Bench(consumer, script, beside=other)
    assert (await bench.handle(grant("g1"))).disposition == Complete("ignored")
    assert sorted(bench.memory.documents("c1")) == ["c1", "op:g0", "op:g1"]


async def test_an_ignored_message_is_told_as_ignored_after_a_conflict_too() -> None:
    bench = Bench(LOYALTY, {2: Conflict(449)})
    assert (await bench.handle(grant("g1", points=0))).disposition == Complete("ignored")
