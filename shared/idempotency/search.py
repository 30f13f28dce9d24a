"""All documents of a search, page by page."""

from collections.abc import AsyncIterator

from shared.idempotency.ports import Find, SearchableStore, StoredDocument


async def find_all(
    store: SearchableStore, find: Find, *, partition: str | None = None
) -> AsyncIterator[StoredDocument]:
    """Every document that is found; the next page is asked for when the one before is used up.

    Raises:
        StoreUnavailableError, StoreAccessError: see the port.
    """
    continuation = None
    while True:
        page = await store.find(find, partition=partition, continuation=continuation)
        for document in page.documents:
            yield document
        if (continuation := page.continuation) is None:
            return
