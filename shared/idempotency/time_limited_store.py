"""Stores that end each call: whatever the store behind does, the caller has its answer in time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import (
    CommitOutcome,
    Find,
    OutcomeUnknown,
    Page,
    SearchableStore,
    Store,
    StoredDocument,
    Write,
)


class TimeLimitedStore:
    """The store port on a store that might never answer. See the port for what is raised and returned."""

    def __init__(self, store: Store, *, call_seconds: float) -> None:
        """Limit a store.

        Args:
            store: does the work.
            call_seconds: how long one call may take; then a read raises `StoreUnavailableError`, and what has become
                of a commit is unknown.
        """
        self._store = store
        self._call_seconds = call_seconds

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Read one document."""
        async with self._limited("read"):
            return await self._store.read(partition, document_id)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Read several documents."""
        async with self._limited("query"):
            return await self._store.read_many(partition, document_ids)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Write all or nothing."""
        try:
            async with asyncio.timeout(self._call_seconds):
                return await self._store.commit(partition, writes)
        except TimeoutError:
            return OutcomeUnknown("no answer to the commit in time")

    @asynccontextmanager
    async def _limited(self, what: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._call_seconds):
                yield
        except TimeoutError:
            raise StoreUnavailableError(f"no answer to a {what} in time") from None


class TimeLimitedSearchableStore(TimeLimitedStore):
    """The same with searches."""

    def __init__(self, store: SearchableStore, *, call_seconds: float) -> None:
        """Limit a store; see `TimeLimitedStore`."""
        super().__init__(store, call_seconds=call_seconds)
        self._searchable = store

    async def find(
        self, find: Find, *, partition: str | None = None, continuation: str | None = None, documents_max: int = 100
    ) -> Page:
        """Find one page of documents."""
        async with self._limited("query"):
            return await self._searchable.find(
                find, partition=partition, continuation=continuation, documents_max=documents_max
            )
