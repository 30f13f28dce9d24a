"""One order in a world where everything goes wrong: random histories of messages, crashes, overlaps and lost answers.

The broker of this world delivers one message at a time, keeps its order, drops what it has seen and delivers again what
was not settled. Two instances of the app share the documents, each with a cache of its own. A run stops before each of
its store calls; who goes on, and what becomes of the call, is chance, drawn from one seed.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from copy import replace
from dataclasses import dataclass, field

import msgspec

from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import Operation
from ordering.orders.order import Order
from shared.convoy.cache import StateCache
from shared.convoy.engine import ConvoyEngine
from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete, DeadLetter, Handled
from shared.idempotency.engine import Engine
from shared.idempotency.json_text import Json
from shared.idempotency.ports import CommitOutcome, Delivery, Document, OutcomeUnknown, StoredDocument, Write
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore

STEPS_MAX = 20_000
LIMITS = Limits(tries_max=4, try_seconds=1e9, store_call_seconds=1e6)
"""Bounded by the number of tries alone: a run may stand still while others go on."""


@dataclass
class Entry:
    """A message in the queue."""

    delivery: Delivery
    count: int = 0
    holder: object = None


@dataclass
class Settled:
    """A message that left the queue."""

    delivery: Delivery
    disposition: Complete | DeadLetter


@dataclass
class Instance:
    """A process of the app."""

    cache: StateCache = field(default_factory=StateCache)


@dataclass
class Run:
    """One delivery in one instance."""

    entry: Entry
    instance: Instance
    task: asyncio.Task[Handled]
    gate: "Gate"


class Gate:
    """The store as one run sees it: it stops before each call, and the world says how the call goes."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._waiting: asyncio.Future[None] | None = None

    @property
    def waits(self) -> bool:
        return self._waiting is not None

    def open(self) -> None:
        assert self._waiting is not None
        self._waiting.set_result(None)
        self._waiting = None

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        await self._stop()
        return await self._world.documents.read(partition, document_id)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        await self._stop()
        return await self._world.documents.read_many(partition, document_ids)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        await self._stop()
        world, chance = self._world, self._world.chance.random()
        if chance < world.late:
            world.late_commits.append((partition, writes))
            return OutcomeUnknown("late")
        if chance < world.late + world.lost:
            await world.documents.commit(partition, writes)
            await self._stop()
            return OutcomeUnknown("lost")
        if chance < world.late + world.lost + world.resent:
            # The SDK sends again after a lost answer.
            await world.documents.commit(partition, writes)
        return await world.documents.commit(partition, writes)

    async def _stop(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting


class World:
    """Broker, documents, instances, and the chance that moves them.

    Attributes:
        documents: the store.
        sent: what the broker accepted, in order.
        settled: what left the queue.
    """

    def __init__(self, chance: random.Random, deliveries: Sequence[Delivery]) -> None:
        self.chance = chance
        self.documents = MemoryStore("/orderId")
        self.late, self.lost, self.resent = (chance.choice([0, 0.05, 0.2]) for _ in range(3))
        self._crash, self._overlap = chance.choice([0, 0.01, 0.05]), chance.choice([0, 0.02, 0.1])
        self._settlement_fails = chance.choice([0, 0.2])
        self.late_commits: list[tuple[str, Sequence[Write]]] = []
        self.sent: list[Delivery] = []
        self.settled: list[Settled] = []
        self._to_send = list(deliveries)
        self._queue: list[Entry] = []
        self._runs: list[Run] = []
        self._instances = [Instance(), Instance()]
        self._random = SequenceRandom()

    async def run(self) -> None:
        """Go on until nothing is left to happen."""
        for _ in range(STEPS_MAX):
            actions = self._actions()
            if not actions:
                return
            await self.chance.choice(actions)()
        raise AssertionError("it never ends")

    def _actions(self) -> list[Callable[[], Awaitable[None]]]:
        actions: list[Callable[[], Awaitable[None]]] = []
        if self._to_send:
            actions.append(self._send_next)
        if self._queue and self._queue[0].holder is None:
            actions += [self._deliver] * 2
        actions += [self._go_on] * (3 * len(self._runs))
        if self.late_commits:
            actions.append(self._land)
        if any(body["status"] == "ready" for body in self.outbox()):
            actions.append(self._relay)
        return actions

    def outbox(self) -> list[Document]:
        """The outbox documents in the order of their numbers."""
        found = [self.documents.documents(partition) for partition in self.documents.partitions()]
        outgoing = [body for documents in found for key, body in documents.items() if key.startswith("out:")]
        return sorted(outgoing, key=lambda body: int(str(body["id"]).removeprefix("out:")))

    async def _send_next(self) -> None:
        self._send(self._to_send.pop(0))

    def _send(self, delivery: Delivery) -> None:
        if all(delivery.message_id != other.message_id for other in self.sent):
            self.sent.append(delivery)
            self._queue.append(Entry(delivery))

    async def _relay(self) -> None:
        for body in self.outbox():
            if body["status"] != "ready":
                continue
            if body["destination"] == process_order_operation.queue:
                self._send(_delivery_of(body["message"]))
            if self.chance.random() < 0.2:
                return  # A crash between sending and marking: sent again.
            self.documents.put(str(body["orderId"]), {**body, "status": "published"})

    async def _land(self) -> None:
        late = self.late_commits.pop(self.chance.randrange(len(self.late_commits)))
        if self.chance.random() < 0.7:
            await self.documents.commit(*late)

    async def _deliver(self) -> None:
        entry, instance, gate = self._queue[0], self.chance.choice(self._instances), Gate(self)
        entry.count += 1
        engine: Engine[Operation, Order] = Engine(
            consumer=process_order_operation, store=gate, clock=ManualClock(), random=self._random, limits=LIMITS
        )
        convoy = ConvoyEngine.beside(engine, cache=instance.cache)
        delivery = replace(entry.delivery, delivery_count=entry.count)
        run = Run(entry, instance, asyncio.ensure_future(convoy.handle(delivery)), gate)
        entry.holder = run
        self._runs.append(run)
        await self._until_it_stops(run)

    async def _go_on(self) -> None:
        run = self.chance.choice(self._runs)
        if self.chance.random() < self._crash:
            self._kill(run.instance)
            return
        if self.chance.random() < self._overlap:
            self._release(run)  # The lock is lost, and the run goes on.
        run.gate.open()
        await self._until_it_stops(run)

    def _kill(self, instance: Instance) -> None:
        for run in [run for run in self._runs if run.instance is instance]:
            run.task.cancel()
            self._release(run)
            self._runs.remove(run)
        self._instances[self._instances.index(instance)] = Instance()

    async def _until_it_stops(self, run: Run) -> None:
        while not run.task.done() and not run.gate.waits:  # noqa: ASYNC110 - it stops at a call of the store, or ends
            await asyncio.sleep(0)
        if not run.task.done():
            return
        self._runs.remove(run)
        disposition = run.task.result().disposition
        holds_the_lock = run.entry.holder is run
        fails = isinstance(disposition, DeadLetter) and self.chance.random() < self._settlement_fails
        if holds_the_lock and isinstance(disposition, Complete | DeadLetter) and not fails:
            self._queue.remove(run.entry)
            self.settled.append(Settled(run.entry.delivery, disposition))
        self._release(run)

    def _release(self, run: Run) -> None:
        if run.entry.holder is run:
            run.entry.holder = None


def _delivery_of(message: Json) -> Delivery:
    assert isinstance(message, dict)
    return Delivery(
        message_id=str(message["messageId"]),
        session_id=str(message["sessionId"]),
        sequence_number=1,
        delivery_count=1,
        body=msgspec.json.encode(message["body"]),
    )
