"""A registered function under every fault of its store, its waits, its dead-letter call and the host's completion.

The function is the product's, engine and settlement together; host and broker are told in a few lines. Whatever fails,
a message leaves the queue once, as it would without the fault, and the documents are the same.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

import pytest

from shared.idempotency.disposition import Complete, DeadLetter
from shared.testing.crash_points import Fault, Point, one_more
from shared.testing.invariants import Result, Settled, all_documents, check_documents, check_same
from shared.testing.skipping_loop import SkippingLoop
from tests.unit.example_consumers import LOYALTY, PointsGranted, grant
from tests.unit.function_host import COMPLETION_FAULTS, DEAD_LETTER_FAULTS, FunctionHost, registered

type MakeHost = Callable[[Sequence[Point]], FunctionHost]

DONE = Complete("applied")
REJECTED = DeadLetter("NotPositive", "points: must be 0 or more")
MISMATCH = DeadLetter("RequestHashMismatch", "the key was taken by a message with other content")


@pytest.fixture
def make_host(monkeypatch: pytest.MonkeyPatch) -> MakeHost:
    return registered(monkeypatch, LOYALTY)


async def outcome(host: FunctionHost, messages: Sequence[PointsGranted], points: Sequence[Point]) -> Result:
    settled = [await host.settle(message, deliveries_max=1 + len(points)) for message in messages]
    await host.crashing.land_all()
    result = Result(all_documents(host.documents), settled)
    check_documents(LOYALTY, messages, result)
    return result


async def prove(make_host: MakeHost, messages: Sequence[PointsGranted], settled: Sequence[Settled]) -> set[str]:
    """Every single fault and every pair; returns the kinds of call and fault that were met."""
    expected = await outcome(make_host(()), messages, ())
    assert expected.settled == settled
    met: set[str] = set()
    waiting: deque[tuple[Point, ...]] = deque([()])
    while waiting:
        points = waiting.popleft()
        host = make_host(points)
        try:
            check_same(expected, await outcome(host, messages, points))
        except AssertionError as error:
            error.add_note("; ".join(f"{host.points.calls[p.call - 1].what} {p.fault}" for p in points))
            raise
        met |= {f"{host.points.calls[point.call - 1].what.split()[0]} {point.fault.name}" for point in points}
        if host.gave_up:
            met.add("gave up")
        if len(points) < 2:
            waiting.extend(one_more(points, host.points.calls))
    return met


@pytest.mark.parametrize(
    ("messages", "settled"),
    [
        ([grant("g1")], [DONE]),
        ([grant("g1", points=-1)], [REJECTED]),
        ([grant("g1"), grant("g1", points=7)], [DONE, MISMATCH]),
        ([grant("g1"), grant("g2", points=-1), grant("g3")], [DONE, REJECTED, DONE]),
    ],
)
def test_whatever_fails_each_message_leaves_the_queue_once_and_as_without_the_fault(
    make_host: MakeHost, messages: Sequence[PointsGranted], settled: Sequence[Settled]
) -> None:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        met = runner.run(prove(make_host, messages, settled))
    assert {"sleep CANCELLED", "gave up"} <= met
    if any(isinstance(found, DeadLetter) for found in settled):
        assert {f"dead-letter {fault.name}" for fault in DEAD_LETTER_FAULTS} <= met
    if DONE in settled:
        assert {f"completion {fault.name}" for fault in COMPLETION_FAULTS} <= met
        assert {f"commit {fault.name}" for fault in Fault if fault is not Fault.MISSES} <= met
