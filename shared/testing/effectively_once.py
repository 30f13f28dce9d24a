"""Proves that a consumer takes its messages in effectively once, whatever goes wrong.

    def test_points_are_added_once() -> None:
        assert_effectively_once(add_granted_points, [grant("g1"), grant("g1"), grant("g2")])

Nothing is sampled: every store call, sleep and settlement of every delivery meets every fault of `crash_points`,
singly, and in pairs for up to three messages; each message is sent again; and the runs of `races` meet in every order
in which they can make their store calls. A proof that never came into the situations of `coverage` fails as well.

Not covered: a rejected message leaves no marker. A run that lost its lock before it read the state may still apply
what the redelivery rejected, if a later message changed the state in between.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from shared.idempotency.consumer import Consumer
from shared.idempotency.decisions import Decision
from shared.idempotency.disposition import Complete
from shared.idempotency.messages import Message, State, to_document
from shared.testing.coverage import REACHED_IN_PAIRS, REACHED_SINGLY, Situation
from shared.testing.crash_points import Call, Point, one_more
from shared.testing.history import History
from shared.testing.invariants import InvariantError, Result, check_same
from shared.testing.races import with_redeliveries, with_successors
from shared.testing.skipping_loop import SkippingLoop

PAIRS_FOR_MESSAGES_MAX: Final = 3


def assert_effectively_once[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M]
) -> frozenset[Situation]:
    """Run the messages, in order, through every crash point, redelivery, resend and race.

    Call it from a plain function: it runs an event loop of its own.

    Args:
        consumer: what `operations` returns.
        messages: of one or more partitions; resends and changed messages among them are welcome.

    Returns:
        The situations that were met. Some depend on the messages: hold the result against those that yours are about.

    Raises:
        AssertionError: names the fault, the point, and what differs from a run in which nothing goes wrong; or the
            situations that every proof must meet and this one did not.
        ValueError: there are no messages.
    """
    if not messages:
        raise ValueError("messages: give at least one")
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(_prove(_checked(consumer), messages))


async def _prove[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M]) -> frozenset[Situation]:
    reached: set[Situation] = set()
    depth = 2 if len(messages) <= PAIRS_FOR_MESSAGES_MAX else 1
    expected = await _without_faults(consumer, messages, reached)
    await _with_crash_points(consumer, messages, expected, depth, reached)
    await with_redeliveries(consumer, messages, expected, reached)
    await with_successors(consumer, messages, expected, reached)
    if any(isinstance(settled, Complete) for settled in expected.settled):
        missed = (REACHED_IN_PAIRS if depth == 2 else REACHED_SINGLY) - reached
        if missed:
            raise AssertionError(f"the proof is hollow, it never met: {'; '.join(sorted(missed))}")
    return frozenset(reached)


async def _without_faults[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], reached: set[Situation]
) -> Result:
    history = History(consumer, reached=reached)
    try:
        settled = [await history.settle(message, through=history.documents) for message in messages]
        result = history.result(messages, settled)
        await history.send_again(messages, settled)
        await history.send_changed(messages, settled)
    except InvariantError as violation:
        raise AssertionError(f"without any fault: {violation}") from violation
    return result


async def _with_crash_points[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], expected: Result, depth: int, reached: set[Situation]
) -> None:
    # Breadth first: what one fault breaks is told with that fault alone.
    waiting: deque[tuple[Point, ...]] = deque([()])
    while waiting:
        points = waiting.popleft()
        history = History(consumer, points, reached=reached)
        try:
            # A fault costs one delivery at most.
            settled = [
                await history.settle(message, through=history.crashing, deliveries_max=1 + len(points))
                for message in messages
            ]
            await history.crashing.land_all()
            check_same(expected, history.result(messages, settled))
            # The same documents answer a resend in the same way; pairs need not ask again.
            if len(points) < 2:
                await history.send_again(messages, settled)
        except InvariantError as violation:
            raise AssertionError(f"{_words(points, history.points.calls)}: {violation}") from violation
        if len(points) < depth:
            waiting.extend(one_more(points, history.points.calls))


def _words(points: Sequence[Point], calls: Sequence[Call]) -> str:
    if not points:
        return "run again without any fault"
    return "; ".join(f"call {point.call} ({calls[point.call - 1].what}) {point.fault}" for point in points)


def _checked[M: Message, S: State](consumer: Consumer[M, S]) -> Consumer[M, S]:
    """The consumer with a decision function that is held to its purity."""

    def decide_twice(state: S | None, message: M, related: Mapping[str, State]) -> Decision[S]:
        before = None if state is None else to_document(state)
        first, second = consumer.decision(state, message, related), consumer.decision(state, message, related)
        if first != second:
            raise InvariantError(f"decide is not pure: it answers {first!r:.200}, then {second!r:.200} for the same")
        if state is not None and to_document(state) != before:
            raise InvariantError("decide is not pure: it changes the state that it is given")
        return first

    if consumer.related is None:
        return replace(consumer, decide=lambda state, message: decide_twice(state, message, {}))
    return replace(consumer, decide=decide_twice)
