"""A read that ends: whatever the store does, the caller has its answer in time."""

import asyncio
from collections.abc import Sequence

from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import Store, StoredDocument


async def read_in_time(store: Store, partition: str, document_id: str, *, seconds: float) -> StoredDocument | None:
    """Read one document, or None where there is none.

    Raises:
        StoreUnavailableError: no answer in time, or what the store itself raises; see the port.
        StoreAccessError: see the port.
    """
    try:
        async with asyncio.timeout(seconds):
            return await store.read(partition, document_id)
    except TimeoutError:
        raise StoreUnavailableError("no answer to a read in time") from None


async def read_many_in_time(
    store: Store, partition: str, document_ids: Sequence[str], *, seconds: float
) -> dict[str, StoredDocument]:
    """Read several documents of one partition; those that do not exist are left out.

    Raises:
        StoreUnavailableError, StoreAccessError: as `read_in_time`.
    """
    try:
        async with asyncio.timeout(seconds):
            return await store.read_many(partition, document_ids)
    except TimeoutError:
        raise StoreUnavailableError("no answer to a query in time") from None
