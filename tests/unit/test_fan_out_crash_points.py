"""Every call of a fan-out meets every fault, singly and in pairs; two runs meet in every order of their calls."""

import asyncio
from collections import deque
from collections.abc import Sequence

from shared.fan_out.engine import FanOutEngine
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete, Disposition
from shared.idempotency.errors import BrokerUnavailableError
from shared.idempotency.ports import Store
from shared.outbox.outgoing import Destination, OutgoingMessage
from shared.testing.crash_points import (
    SETTLEMENT_FAULTS,
    CrashingClock,
    CrashingStore,
    CrashPoints,
    Fault,
    Point,
    one_more,
)
from shared.testing.interleaving import Interleaving, following
from shared.testing.manual_clock import ManualClock
from shared.testing.memory_queue import MemoryQueue
from shared.testing.memory_store import MemoryStore
from shared.testing.skipping_loop import SkippingLoop
from tests.unit.ledgers import LEDGER, TWO_OPERATIONS, delivery_of, engine, part_of, sent_ids, walk

PART = part_of(walk())
LIMITS = Limits(tries_max=2)
SEND_FAULTS = (Fault.FAILS, Fault.CANCELLED, Fault.ANSWER_LOST, Fault.APPLIED_AND_CANCELLED)
"""The sender's own time limit makes one that never answers a send that fails."""


class CrashingQueue:
    """A queue whose sends are points."""

    def __init__(self, queue: MemoryQueue, points: CrashPoints) -> None:
        self._queue = queue
        self._points = points

    async def send_batch(self, messages: Sequence[OutgoingMessage]) -> int:
        fault = self._points.next(f"send of {len(messages)}", SEND_FAULTS)
        if fault in {Fault.FAILS, Fault.CANCELLED}:
            await go_wrong(fault)
        accepted = await self._queue.send_batch(messages)
        await go_wrong(fault)
        return accepted


async def go_wrong(fault: Fault | None) -> None:
    if fault in {Fault.FAILS, Fault.ANSWER_LOST}:
        raise BrokerUnavailableError(f"crash point: {fault}")
    if fault in {Fault.CANCELLED, Fault.APPLIED_AND_CANCELLED}:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)


class History:
    """One part, delivered until it is settled."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.documents, self.queue = MemoryStore("/ledgerId"), MemoryQueue(batch_bytes_max=TWO_OPERATIONS)
        self.points = CrashPoints(points)
        self.crashing = CrashingStore(self.documents, self.points)

    async def settle(self, deliveries_max: int) -> Disposition:
        for count in range(1, deliveries_max + 1):
            disposition = await self._deliver(count)
            if isinstance(disposition, Complete) and self.points.next("settlement", SETTLEMENT_FAULTS) is None:
                return disposition
        raise AssertionError(f"not settled by {deliveries_max} deliveries")

    async def _deliver(self, count: int) -> Disposition | None:
        """None where the worker died."""
        clock = CrashingClock(ManualClock(), self.points)
        made = engine(self.crashing, CrashingQueue(self.queue, self.points), clock, LIMITS)
        task = asyncio.ensure_future(made.handle(delivery_of(PART, count=count)))
        await asyncio.wait({task})
        return None if task.cancelled() else task.result().disposition

    def check(self) -> None:
        """Nothing is missing, nothing is there twice, nothing is out of order, and the document says so."""
        assert self.queue.message_ids == sent_ids(PART.operations)
        document = self.documents.documents(LEDGER)["part:1"]
        assert (document["state"], document["sent"]) == ("sent", 6)


async def every_history(depth: int) -> int:
    waiting: deque[tuple[Point, ...]] = deque([()])
    walked = 0
    while waiting:
        points = waiting.popleft()
        history = History(points)
        try:
            await history.settle(1 + len(points))
            await history.crashing.land_all()
            history.check()
        except AssertionError as error:
            met = ", ".join(f"{history.points.calls[point.call - 1].what} {point.fault}" for point in points)
            raise AssertionError(f"{met}: {error}") from error
        walked += 1
        if len(points) < depth:
            waiting.extend(one_more(points, history.points.calls))
    return walked


def test_whatever_fails_once_or_twice_each_operation_is_sent_once_and_in_order() -> None:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        walked = runner.run(every_history(2))
    # Four commits of 11 faults, three sends of 4 and a settlement come to 57 singly.
    assert walked > 57 * 20


SHORT = part_of(walk(length=2))
"""Two batches: five calls of a run, so that two can meet in 252 orders and more."""


class GatedQueue:
    """A queue before which a run waits for its turn, as it does before its store."""

    def __init__(self, queue: Destination, gate: Store) -> None:
        self._queue, self._gate = queue, gate

    async def send_batch(self, messages: Sequence[OutgoingMessage]) -> int:
        await self._gate.read(LEDGER, "gate")
        return await self._queue.send_batch(messages)


async def every_order_of(*counts: int) -> int:
    planned: list[int] | None = []
    walked = 0
    while planned is not None:
        interleaving, documents, queue = (
            Interleaving(planned),
            MemoryStore("/ledgerId"),
            MemoryQueue(batch_bytes_max=TWO_OPERATIONS),
        )
        found: list[Disposition] = []

        async def run(made: FanOutEngine, count: int, found: list[Disposition]) -> None:
            found.append((await made.handle(delivery_of(SHORT, count=count))).disposition)

        runs = []
        for count in counts:
            gate = interleaving.gated(documents)
            runs.append(run(engine(gate, GatedQueue(queue, gate), ManualClock(), Limits()), count, found))
        await interleaving.run(runs)
        assert queue.message_ids == sent_ids(SHORT.operations)
        assert documents.documents(LEDGER)["part:1"]["state"] == "sent"
        assert all(isinstance(disposition, Complete) for disposition in found)
        planned = following(interleaving.choices)
        walked += 1
    return walked


async def test_two_runs_at_once_send_each_operation_once_and_in_order_however_they_meet() -> None:
    assert await every_order_of(1, 1) > 252
    assert await every_order_of(1, 2) > 252
