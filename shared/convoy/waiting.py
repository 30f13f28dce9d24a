"""Partitions in which messages wait for their turn: which ones, since when, and draining those that nobody drained."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.idempotency.errors import TransientError
from shared.idempotency.ports import Find, SearchableStore, StoredDocument
from shared.idempotency.progress import Progress
from shared.idempotency.search import find_all

_log = logging.getLogger(__name__)

WAITING: Final = Find(has="waitingSince")
DUE: Final = Find(has="drainSince")


@dataclass(frozen=True, slots=True)
class WaitingPartition:
    """A partition in which messages wait.

    Attributes:
        partition: partition key value.
        number: the one that is missing.
        since: when the oldest of those that wait came, UTC.
        parked: how many wait.
    """

    partition: str
    number: int
    since: str
    parked: int


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """Partitions that wait, and where the next ones begin; None after the last."""

    partitions: Sequence[WaitingPartition]
    continuation: str | None


@dataclass(frozen=True, slots=True)
class WaitingReport:
    """How many partitions wait, how many messages in them, and for how long the oldest."""

    partitions: int
    messages: int
    oldest: timedelta


async def waiting_page(store: SearchableStore, *, continuation: str | None, partitions_max: int) -> WaitingPage:
    """One page of the partitions that wait, in no particular order.

    Raises:
        StoreUnavailableError, StoreAccessError: see the port.
    """
    page = await store.find(WAITING, continuation=continuation, documents_max=partitions_max)
    return WaitingPage([_waiting(document) for document in page.documents], page.continuation)


async def report_waiting(store: SearchableStore, now: datetime) -> WaitingReport:
    """Count them all.

    Raises:
        StoreUnavailableError, StoreAccessError: see the port.
    """
    partitions, messages, oldest = 0, 0, timedelta(0)
    async for document in find_all(store, WAITING):
        waiting = _waiting(document)
        partitions += 1
        messages += waiting.parked
        oldest = max(oldest, now - datetime.fromisoformat(waiting.since))
    return WaitingReport(partitions, messages, oldest)


async def drain_what_is_due(store: SearchableStore, drain: Callable[[str], Awaitable[int]]) -> int:
    """Drain every partition that has something due; returns how many messages that were.

    One partition's failure is logged; it stays due.

    Args:
        store: of the container.
        drain: drains a partition, and says how many messages were due in it.

    Raises:
        StoreUnavailableError, StoreAccessError: the partitions could not be found.
    """
    drained = 0
    async for document in find_all(store, DUE):
        partition = str(document.body["id"])
        try:
            drained += await drain(partition)
        except TransientError as error:
            _log.warning("drain=retry partition=%s cause=%s", partition, error)
    return drained


def _waiting(document: StoredDocument) -> WaitingPartition:
    progress = Progress.of(document.body)
    return WaitingPartition(
        partition=str(document.body["id"]),
        number=progress.last_sequence + 1,
        since=progress.waiting_since or "",
        parked=len(progress.parked),
    )
