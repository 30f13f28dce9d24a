"""Proves that a consumer takes its messages in effectively once, whatever goes wrong.

    def test_points_are_added_once() -> None:
        assert_effectively_once(add_granted_points, [grant("g1"), grant("g1"), grant("g2")])

Nothing is sampled: every store call of every delivery meets every fault of `crash_points`, singly, and in pairs for up
to two messages; each message is sent again; and a run that lost its session lock goes on beside the redelivery, in
every order in which the two can make their store calls.

Not covered: a rejected message leaves no marker. A run that lost its lock before it read the state may still apply
what the redelivery rejected, if a later message changed the state in between.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from shared.idempotency.consumer import Consumer
from shared.idempotency.decisions import Decision
from shared.idempotency.disposition import Complete, Retry
from shared.idempotency.messages import Message, State, to_document
from shared.testing.crash_points import CrashingStore, Point, one_more
from shared.testing.history import History
from shared.testing.interleaving import Interleaving, following
from shared.testing.invariants import InvariantError, Result, check_same
from shared.testing.skipping_loop import SkippingLoop

PAIRS_FOR_MESSAGES_MAX: Final = 2


def assert_effectively_once[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M]) -> None:
    """Run the messages, in order, through every crash point, redelivery, resend and race.

    Call it from a plain function: it runs an event loop of its own.

    Args:
        consumer: what `operations` returns.
        messages: of one or more partitions; resends and changed messages among them are welcome.

    Raises:
        AssertionError: names the fault, the point, and what differs from a run in which nothing goes wrong.
        ValueError: there are no messages.
    """
    if not messages:
        raise ValueError("messages: give at least one")
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(_prove(_checked(consumer), messages))


async def _prove[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M]) -> None:
    expected = await _without_faults(consumer, messages)
    await _with_crash_points(consumer, messages, expected)
    await _with_races(consumer, messages, expected)


async def _without_faults[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M]) -> Result:
    history = History(consumer)
    try:
        settled = [await history.settle(message, through=history.documents, deliveries_max=1) for message in messages]
        result = history.result(messages, settled)
        await history.send_again(messages, settled)
        await history.send_changed(messages, settled)
    except InvariantError as violation:
        raise AssertionError(f"without any fault: {violation}") from violation
    return result


async def _with_crash_points[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], expected: Result
) -> None:
    depth = 2 if len(messages) <= PAIRS_FOR_MESSAGES_MAX else 1
    # Breadth first: what one fault breaks is told with that fault alone.
    waiting: deque[tuple[Point, ...]] = deque([()])
    while waiting:
        points = waiting.popleft()
        history = History(consumer)
        store = CrashingStore(history.documents, points)
        try:
            # A fault costs one delivery at most.
            settled = [
                await history.settle(message, through=store, deliveries_max=1 + len(points)) for message in messages
            ]
            await store.land_all()
            check_same(expected, history.result(messages, settled))
            await history.send_again(messages, settled)
        except InvariantError as violation:
            raise AssertionError(f"{_words(points, store)}: {violation}") from violation
        if len(points) < depth:
            waiting.extend(one_more(points, store.calls))


def _words(points: Sequence[Point], store: CrashingStore) -> str:
    if not points:
        return "run again without any fault"
    return "; ".join(f"store call {point.call} ({store.calls[point.call - 1].what}) {point.fault}" for point in points)


async def _with_races[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M], expected: Result) -> None:
    for index in range(len(messages)):
        planned: list[int] | None = []
        while planned is not None:
            interleaving = Interleaving(planned)
            try:
                await _race(consumer, messages, index, interleaving, expected)
            except InvariantError as violation:
                order = "".join(str(choice.taken) for choice in interleaving.choices)
                raise AssertionError(
                    f"message {index + 1}: a run without its lock beside the redelivery, in the order {order}: "
                    f"{violation}"
                ) from violation
            planned = following(interleaving.choices)


async def _race[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], index: int, interleaving: Interleaving, expected: Result
) -> None:
    history = History(consumer)
    direct = history.documents
    settled = [await history.settle(message, through=direct, deliveries_max=1) for message in messages[:index]]
    stale, lawful = interleaving.gated(direct), interleaving.gated(direct)

    async def go_on_without_lock() -> None:
        found, wanted = await history.deliver(messages[index], through=stale), expected.settled[index]
        # Its settlement would be refused, or come first: so it must be right as well.
        if found is None or (not isinstance(found, Retry) and type(found) is not type(wanted)):
            raise InvariantError(f"the run without its lock ends in {found}, without a fault in {wanted}")

    async def redeliver() -> None:
        settled.append(await history.settle(messages[index], through=lawful, deliveries_max=2, first_count=2))
        # The session goes on while the other run may still be under way. A rejected message has no marker that
        # would stop that run from deciding on the next message's state.
        if isinstance(settled[-1], Complete) and index + 1 < len(messages):
            settled.append(await history.settle(messages[index + 1], through=lawful, deliveries_max=2))

    await interleaving.run([go_on_without_lock(), redeliver()])
    settled += [await history.settle(message, through=direct, deliveries_max=1) for message in messages[len(settled) :]]
    check_same(expected, history.result(messages, settled))
    await history.send_again(messages, settled)


def _checked[M: Message, S: State](consumer: Consumer[M, S]) -> Consumer[M, S]:
    """The consumer with a decision function that is held to its purity."""
    decide: Callable[[S | None, M], Decision[S]] = consumer.decide

    def decide_twice(state: S | None, message: M) -> Decision[S]:
        before = None if state is None else to_document(state)
        first, second = decide(state, message), decide(state, message)
        if first != second:
            raise InvariantError(f"decide is not pure: it answers {first!r:.200}, then {second!r:.200} for the same")
        if state is not None and to_document(state) != before:
            raise InvariantError("decide is not pure: it changes the state that it is given")
        return first

    return replace(consumer, decide=decide_twice)
