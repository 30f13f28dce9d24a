"""Outages on an injected clock: one of the stated length loses nothing, a longer one ends as the guarantees say."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete, Retry
from shared.idempotency.engine import Engine
from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import CommitOutcome, OutcomeUnknown, StoredDocument, Write
from shared.testing.deliveries import delivery_of
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore
from tests.unit.example_consumers import ACCOUNTS, opened

AZURE, LOCAL = 25, 10
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Outage:
    """A store that answers nothing until a time."""

    def __init__(self, inner: MemoryStore, clock: ManualClock, until: datetime) -> None:
        self._inner = inner
        self._clock = clock
        self._until = until

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        if self._clock.now() < self._until:
            raise StoreUnavailableError("read: ServiceRequestError")
        return await self._inner.read(partition, document_id)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        raise AssertionError("a message without further documents makes no query")

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        if self._clock.now() < self._until:
            return OutcomeUnknown("ServiceRequestError")
        return await self._inner.commit(partition, writes)


async def deliveries_needed(minutes: float, *, crashes: frozenset[int] = frozenset()) -> int:
    """How many deliveries a message takes when the store is away from its first one on.

    Args:
        minutes: the outage.
        crashes: deliveries that end with the worker's death at their very beginning: their wait is lost.
    """
    clock = ManualClock(START)
    documents = MemoryStore("/accountId")
    store = Outage(documents, clock, START + timedelta(minutes=minutes))
    engine = Engine(consumer=ACCOUNTS, store=store, clock=clock, random=SequenceRandom(), limits=Limits())
    for count in range(1, 100):
        if count in crashes:
            continue
        handled = await engine.handle(delivery_of(ACCOUNTS, opened(), delivery_count=count))
        if handled.disposition == Complete("applied"):
            assert set(documents.documents("a1")) == {"a1", "out:1"}
            return count
        assert isinstance(handled.disposition, Retry), handled
    raise AssertionError("never applied")


@pytest.mark.parametrize(("minutes", "limit"), [(30, AZURE), (7, LOCAL)])
async def test_an_outage_of_the_stated_length_dead_letters_nothing(minutes: int, limit: int) -> None:
    assert await deliveries_needed(minutes) <= limit


async def test_two_crashes_within_it_are_forgiven() -> None:
    # Deliveries with the longest wait, as late as the outage lasts.
    assert await deliveries_needed(30, crashes=frozenset({20, 21})) <= AZURE
    assert await deliveries_needed(30, crashes=frozenset({20, 21})) == await deliveries_needed(30) + 2


@pytest.mark.parametrize(("minutes", "limit"), [(45, AZURE), (10, LOCAL)])
async def test_a_longer_one_uses_the_deliveries_up(minutes: int, limit: int) -> None:
    assert await deliveries_needed(minutes) > limit
