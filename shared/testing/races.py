"""Races: a run that lost its session lock goes on beside what the broker delivers next, in every order of store calls.

The broker delivers next either the same message again or, once that was set aside after its last delivery, the one
behind it.
"""

from collections.abc import Awaitable, Callable, Sequence

from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Complete, Retry
from shared.idempotency.messages import Message, State
from shared.testing.coverage import Situation
from shared.testing.history import History
from shared.testing.interleaving import Interleaving, following
from shared.testing.invariants import InvariantError, Result, check_same


async def with_redeliveries[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], expected: Result, reached: set[Situation]
) -> None:
    """Each message: its run without a lock beside its redelivery, and beside the message behind it after that.

    Raises:
        AssertionError: names the message, the order, and what differs from a run in which nothing goes wrong.
    """
    for index in range(len(messages)):
        stale_word = f"message {index + 1}: a run without its lock beside the redelivery"

        async def race(interleaving: Interleaving, index: int = index) -> None:
            await _beside_redelivery(consumer, messages, index, interleaving, expected, reached)

        await _in_every_order(stale_word, race)


async def with_successors[M: Message, S: State](
    consumer: Consumer[M, S], messages: Sequence[M], expected: Result, reached: set[Situation]
) -> None:
    """Each message: its run without a lock beside the message behind it, and then resubmitted from the dead letters.

    Raises:
        AssertionError: names the message, the order, and how the result differs from that of either order of the two.
    """
    for index in range(len(messages) - 1):
        swapped = [*messages[:index], messages[index + 1], messages[index], *messages[index + 2 :]]
        history = History(consumer)
        settled = [await history.settle(message, through=history.documents) for message in swapped]
        settled[index], settled[index + 1] = settled[index + 1], settled[index]
        lawful = (expected, history.result(messages, settled))
        words = f"message {index + 1}: a run without its lock beside message {index + 2}"

        async def race(interleaving: Interleaving, index: int = index, lawful: tuple[Result, Result] = lawful) -> None:
            await _beside_successor(consumer, messages, index, interleaving, lawful, reached)

        await _in_every_order(words, race)


async def _in_every_order(words: str, race: Callable[[Interleaving], Awaitable[None]]) -> None:
    planned: list[int] | None = []
    while planned is not None:
        interleaving = Interleaving(planned)
        try:
            await race(interleaving)
        except InvariantError as violation:
            order = "".join(str(choice.taken) for choice in interleaving.choices)
            raise AssertionError(f"{words}, in the order {order}: {violation}") from violation
        planned = following(interleaving.choices)


async def _beside_redelivery[M: Message, S: State](
    consumer: Consumer[M, S],
    messages: Sequence[M],
    index: int,
    interleaving: Interleaving,
    expected: Result,
    reached: set[Situation],
) -> None:
    history = History(consumer, reached=reached)
    direct = history.documents
    settled = [await history.settle(message, through=direct) for message in messages[:index]]
    stale, lawful = interleaving.gated(direct), interleaving.gated(direct)
    wanted = expected.settled[index]
    is_first = isinstance(wanted, Complete) and wanted != Complete("duplicate")

    async def go_on_without_lock() -> None:
        found = await history.deliver(messages[index], through=stale)
        # Its settlement would be refused, or come first: so it must be right as well.
        if found is None or (not isinstance(found, Retry) and type(found) is not type(wanted)):
            raise InvariantError(f"the run without its lock ends in {found}, without a fault in {wanted}")
        if is_first and found == Complete("duplicate"):
            reached.add(Situation.LOCK_LOST_BEFORE_COMMIT)

    async def redeliver() -> None:
        settled.append(await history.settle(messages[index], through=lawful, deliveries_max=2, first_count=2))
        if is_first and settled[-1] == Complete("duplicate"):
            reached.add(Situation.LOCK_LOST_AFTER_COMMIT)
        # The session goes on while the other run may still be under way. A rejected message has no marker that
        # would stop that run from deciding on the next message's state.
        if isinstance(settled[-1], Complete) and index + 1 < len(messages):
            settled.append(await history.settle(messages[index + 1], through=lawful, deliveries_max=2))

    await interleaving.run([go_on_without_lock(), redeliver()])
    settled += [await history.settle(message, through=direct) for message in messages[len(settled) :]]
    check_same(expected, history.result(messages, settled))
    await history.send_again(messages, settled)


async def _beside_successor[M: Message, S: State](
    consumer: Consumer[M, S],
    messages: Sequence[M],
    index: int,
    interleaving: Interleaving,
    lawful: tuple[Result, Result],
    reached: set[Situation],
) -> None:
    history = History(consumer, reached=reached)
    direct = history.documents
    settled = [await history.settle(message, through=direct) for message in messages[:index]]
    stale, next_run = interleaving.gated(direct), interleaving.gated(direct)

    async def go_on_without_lock() -> None:
        await history.deliver(messages[index], through=stale)

    async def deliver_next() -> None:
        settled.append(await history.settle(messages[index + 1], through=next_run, deliveries_max=2))

    await interleaving.run([go_on_without_lock(), deliver_next()])
    settled.insert(index, await history.settle(messages[index], through=direct, suffix="resubmit1"))
    settled += [await history.settle(message, through=direct) for message in messages[index + 2 :]]
    found = history.result(messages, settled)
    try:
        check_same(lawful[0], found)
    except InvariantError:
        check_same(lawful[1], found)
    await history.send_again(messages, settled)
