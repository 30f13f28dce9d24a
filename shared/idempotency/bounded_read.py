"""A read that ends: whatever the store does, the caller has its answer in time."""

import asyncio

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
