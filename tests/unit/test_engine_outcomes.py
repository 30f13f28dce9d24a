"""What the engine does after each outcome of a commit and each fault of a read."""

import asyncio
from collections.abc import Mapping

import pytest

from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete, DeadLetter, Disposition, Handled, Retry
from shared.idempotency.errors import StoreAccessError, StoreUnavailableError
from shared.idempotency.ports import (
    AccessDenied,
    CommitOutcome,
    Conflict,
    MarkerExists,
    OutcomeUnknown,
    PartitionFull,
    Refused,
    Throttled,
    TooLarge,
)
from shared.idempotency.request_hash import request_hash
from tests.unit.example_consumers import ACCOUNTS, LOYALTY, Points, PointsGranted, grant, opened
from tests.unit.scripted_store import After, Applied, Bench, Hangs, Missing, Script

UNAVAILABLE = StoreUnavailableError("no answer")
MISMATCH = DeadLetter("RequestHashMismatch", "the key was taken by a message with other content")
PATIENT = Limits(store_call_seconds=0.01)

# Calls of a first delivery: 1 reads the state, 2 commits.
FIRST_TRY = ["read c1", "commit op:g1 c1 out:1"]


async def handled(script: Mapping[int, Script], limits: Limits | None = None) -> Bench[PointsGranted, Points]:
    """A bench on which the message was taken in once, whatever the script did."""
    bench = Bench(LOYALTY, script, limits=limits)
    assert (await bench.handle(grant("g1"))).disposition == Complete("applied")
    assert bench.memory.documents("c1")["c1"]["total"] == 5
    assert bench.memory.writes == 3
    return bench


async def settled(script: Mapping[int, Script]) -> tuple[Disposition, Bench[PointsGranted, Points]]:
    """A disposition under which nothing was written."""
    bench = Bench(LOYALTY, script)
    disposition = (await bench.handle(grant("g1"))).disposition
    assert bench.memory.documents("c1") == {}
    return disposition, bench


async def test_a_new_message_is_applied_and_named_for_the_log() -> None:
    bench = Bench(LOYALTY)
    assert await bench.handle(grant("g1")) == Handled(Complete("applied"), "g1", "c1", request_hash(grant("g1")))
    assert bench.store.calls == FIRST_TRY
    assert bench.clock.slept == []


async def test_409_for_our_own_write() -> None:
    bench = await handled({2: Applied(MarkerExists())})
    assert bench.store.calls == [*FIRST_TRY, "read op:g1"]


async def test_409_for_the_same_request() -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1"))
    before = bench.memory.documents("c1")
    assert (await bench.handle(grant("g1"), suffix="copy1")).disposition == Complete("duplicate")
    assert bench.memory.documents("c1") == before


async def test_409_for_another_request() -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1"))
    before = bench.memory.documents("c1")
    assert (await bench.handle(grant("g1", points=6))).disposition == MISMATCH
    assert bench.memory.documents("c1") == before


async def test_409_on_a_state_that_is_its_own_marker() -> None:
    bench = Bench(ACCOUNTS)
    assert (await bench.handle(opened("a1"))).disposition == Complete("applied")
    assert (await bench.handle(opened("a1"), suffix="copy1")).disposition == Complete("duplicate")
    assert (await bench.handle(opened("a1", owner="Eve"))).disposition == MISMATCH
    assert bench.memory.documents("a1")["a1"]["owner"] == "Ada"
    assert sorted(bench.memory.documents("a1")) == ["a1", "out:1"]


async def test_404_after_409_is_tried_again() -> None:
    bench = await handled({2: MarkerExists(), 3: Missing()})
    assert bench.store.calls == [*FIRST_TRY, "read op:g1", *FIRST_TRY]
    assert bench.clock.slept == [0.05]


async def test_404_after_409_for_ever_is_neither_a_mismatch_nor_done() -> None:
    script: dict[int, Script] = {}
    for tries in range(6):
        script |= {3 * tries + 2: MarkerExists(), 3 * tries + 3: Missing()}
    disposition, bench = await settled(script)
    assert disposition == Retry("marker exists")
    assert len(bench.store.calls) == 18
    assert bench.clock.slept == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8])


async def test_an_unknown_outcome_that_was_applied() -> None:
    bench = await handled({2: Applied(OutcomeUnknown("reset"))})
    assert bench.store.calls == [*FIRST_TRY, "read op:g1"]


async def test_an_unknown_outcome_that_was_not_applied() -> None:
    bench = await handled({2: OutcomeUnknown("reset")})
    assert bench.store.calls == [*FIRST_TRY, "read op:g1", *FIRST_TRY]


async def test_an_unknown_outcome_whose_marker_cannot_be_read() -> None:
    bench = await handled({2: Applied(OutcomeUnknown("reset")), 3: UNAVAILABLE})
    assert bench.store.calls == [*FIRST_TRY, "read op:g1", "read c1", "commit op:g1 c1 out:2", "read op:g1"]


async def test_an_unknown_outcome_for_ever_is_retried_by_the_broker() -> None:
    script = {call: OutcomeUnknown("reset") for call in range(2, 19, 3)}
    disposition, bench = await settled(script)
    assert disposition == Retry("reset")
    assert len(bench.store.calls) == 18


@pytest.mark.parametrize("call", [1, 2, 3])
async def test_a_call_that_never_answers_is_cut_off(call: int) -> None:
    script: dict[int, Script] = {call: Hangs()}
    if call == 3:
        script[2] = OutcomeUnknown("reset")
    await handled(script, PATIENT)


async def test_a_commit_that_never_answers_and_was_applied() -> None:
    bench = await handled({2: Applied(Hangs())}, PATIENT)
    assert bench.store.calls == [*FIRST_TRY, "read op:g1"]


@pytest.mark.parametrize("status", [404, 409, 412, 449])
async def test_a_conflict_is_decided_again(status: int) -> None:
    bench = await handled({2: Conflict(status)})
    assert bench.store.calls == FIRST_TRY * 2
    assert bench.clock.slept == [0.05]


async def test_a_conflict_is_decided_on_what_is_stored_now() -> None:
    other: Bench[PointsGranted, Points] = Bench(LOYALTY)
    await other.handle(grant("g0", points=1))

    async def overtake() -> None:
        assert (await other.handle(grant("g2", points=10))).disposition == Complete("applied")

    bench = Bench(LOYALTY, {2: After(overtake)}, beside=other)
    assert (await bench.handle(grant("g1", points=5))).disposition == Complete("applied")
    assert bench.store.calls == ["read c1", "commit op:g1 c1 out:2", "read c1", "commit op:g1 c1 out:3"]
    assert bench.memory.documents("c1")["c1"]["total"] == 16


async def test_conflicts_for_ever_are_retried_by_the_broker() -> None:
    disposition, bench = await settled({call: Conflict(412) for call in range(2, 13, 2)})
    assert disposition == Retry("conflict 412")
    assert bench.clock.slept == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8])


async def test_throttling_is_waited_out_within_the_tries() -> None:
    bench = await handled({2: Throttled(2.0), 4: Throttled(2.5)})
    assert bench.clock.slept == [2.0, 2.5]


async def test_throttling_over_the_tries_is_retried_by_the_broker() -> None:
    disposition, bench = await settled({2: Throttled(2.0), 4: Throttled(2.0), 6: Throttled(2.0)})
    assert disposition == Retry("throttled")
    assert bench.clock.slept == [2.0, 2.0]


async def test_throttling_longer_than_the_tries_is_not_waited_for() -> None:
    disposition, bench = await settled({2: Throttled(5.0)})
    assert disposition == Retry("throttled")
    assert bench.clock.slept == []


async def test_a_read_that_is_throttled_is_waited_out() -> None:
    bench = await handled({1: StoreUnavailableError("throttled", retry_after_seconds=1.5)})
    assert bench.clock.slept == [1.5]


async def test_reads_that_fail_for_ever_are_retried_by_the_broker() -> None:
    disposition, bench = await settled(dict.fromkeys(range(1, 7), UNAVAILABLE))
    assert disposition == Retry("no answer")
    assert bench.store.calls == ["read c1"] * 6


async def test_a_request_refused_once_may_pass() -> None:
    await handled({2: Refused(400)})


@pytest.mark.parametrize("between", [{}, {4: Conflict(412)}, {4: Throttled(0.1)}])
async def test_a_request_refused_twice_is_the_messages_fault(between: dict[int, CommitOutcome]) -> None:
    script = {2: Refused(400), **between, (6 if between else 4): Refused(400)}
    disposition, _ = await settled(script)
    assert disposition == DeadLetter("StoreRejected", "the store refused the request with 400")


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_access_denied_is_not_the_messages_fault(status: int) -> None:
    disposition, bench = await settled({2: AccessDenied(status)})
    assert disposition == Retry(f"store access denied {status}", alert=True)
    assert bench.store.calls == FIRST_TRY


async def test_access_denied_to_a_read_is_not_the_messages_fault() -> None:
    disposition, _ = await settled({1: StoreAccessError("store access denied 403")})
    assert disposition == Retry("store access denied 403", alert=True)


@pytest.mark.parametrize(
    ("outcome", "disposition"),
    [
        (TooLarge("3 MB in one batch"), DeadLetter("PayloadTooLarge", "3 MB in one batch")),
        (PartitionFull(), DeadLetter("PartitionFull", "the partition is at the store's size limit")),
    ],
)
async def test_what_another_try_cannot_help(outcome: CommitOutcome, disposition: Disposition) -> None:
    assert (await settled({2: outcome}))[0] == disposition


@pytest.mark.parametrize("call", [1, 2])
async def test_cancellation_goes_through(call: int) -> None:
    bench = Bench(LOYALTY, {call: Hangs()})
    task = asyncio.ensure_future(bench.handle(grant("g1")))
    while len(bench.store.calls) < call:  # noqa: ASYNC110 - steps the loop until the call hangs
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(bench.store.calls) == call
