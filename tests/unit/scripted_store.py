"""A memory store whose n-th call answers as a test says, and an engine on it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Never

from shared.idempotency.backoff import Limits
from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Handled
from shared.idempotency.engine import Engine
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import CommitOutcome, Delivery, StoredDocument, Write, written_id
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.testing.deliveries import delivery_of
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore


@dataclass(frozen=True)
class Missing:
    """The read finds nothing, as on a replica that is behind."""


@dataclass(frozen=True)
class Hangs:
    """The call never answers."""


@dataclass(frozen=True)
class Applied:
    """The call goes through, and answers this instead."""

    answer: CommitOutcome | Hangs


@dataclass(frozen=True)
class After:
    """The call goes through after this has happened."""

    event: Callable[[], Awaitable[object]]


type Script = CommitOutcome | Missing | Hangs | Applied | After | Exception


@dataclass
class ScriptedStore:
    """Calls that the script does not name go through."""

    inner: MemoryStore
    script: Mapping[int, Script] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        match await self._next(f"read {document_id}"):
            case None:
                return await self.inner.read(partition, document_id)
            case Missing():
                return None
            case Exception() as error:
                raise error
            case other:
                raise AssertionError(f"a read cannot answer {other}")

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        match await self._next("query " + " ".join(document_ids)):
            case None:
                return await self.inner.read_many(partition, document_ids)
            case Missing():
                return {}
            case Exception() as error:
                raise error
            case other:
                raise AssertionError(f"a query cannot answer {other}")

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        match await self._next("commit " + " ".join(map(written_id, writes))):
            case None:
                return await self.inner.commit(partition, writes)
            case Applied(answer):
                await self.inner.commit(partition, writes)
                return await _for_ever() if isinstance(answer, Hangs) else answer
            case (Missing() | Exception()) as other:
                raise AssertionError(f"a commit cannot answer {other}")
            case outcome:
                return outcome

    async def _next(self, what: str) -> CommitOutcome | Missing | Applied | Exception | None:
        self.calls.append(what)
        match self.script.get(len(self.calls)):
            case Hangs():
                return await _for_ever()
            case After(event):
                await event()
                return None
            case answer:
                return answer


async def _for_ever() -> Never:
    await asyncio.Event().wait()
    raise AssertionError("an event that nobody sets is set")


class Bench[M: Message, S: State]:
    """An engine on a scripted store with a manual clock; `beside` is another instance on the same documents."""

    def __init__(
        self,
        consumer: Consumer[M, S],
        script: Mapping[int, Script] | None = None,
        *,
        beside: "Bench[M, S] | None" = None,
        limits: Limits | None = None,
    ) -> None:
        self.consumer = consumer
        self.memory: MemoryStore = beside.memory if beside else MemoryStore(consumer.documents.partition_key)
        self.store = ScriptedStore(self.memory, script or {})
        self.clock = ManualClock()
        self.random: SequenceRandom = beside.random if beside else SequenceRandom()
        self.limits = limits or Limits()

    async def handle(self, message: M, *, count: int = 1, suffix: str | None = None) -> Handled:
        return await self.take(delivery_of(self.consumer, message, delivery_count=count, suffix=suffix))

    async def take(self, delivery: Delivery) -> Handled:
        engine = Engine(
            consumer=self.consumer,
            store=TimeLimitedStore(self.store, call_seconds=self.limits.store_call_seconds),
            clock=self.clock,
            random=self.random,
            limits=self.limits,
        )
        return await engine.handle(delivery)
