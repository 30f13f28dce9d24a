"""The store port on Azure Cosmos DB: one container.

A commit of one write is a create; of more, a transactional batch: all or nothing within the logical partition.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never, cast

import msgspec
from azure.core.exceptions import AzureError
from azure.cosmos.exceptions import CosmosHttpResponseError

from shared.cosmos.client import Database
from shared.cosmos.outcomes import commit_outcome, is_missing, read_error
from shared.idempotency.errors import unknown_continuation
from shared.idempotency.ports import (
    BATCH_BYTES_MAX,
    BATCH_OPERATIONS_MAX,
    CommitOutcome,
    Committed,
    Create,
    Delete,
    Find,
    Page,
    Replace,
    StoredDocument,
    TooLarge,
    Write,
)

READ_DOCUMENTS_MAX: Final = 100

_OPERATION_BYTES: Final = 256  # an operation's own JSON around the document
_SYSTEM_FIELDS: Final = frozenset({"_rid", "_self", "_etag", "_attachments", "_ts"})


class CosmosStore:
    """Documents of one container. Session consistency: this client reads what it wrote, and what refused its write."""

    def __init__(self, database: Database, container: str) -> None:
        self._database = database
        self._container = database.container(container)

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Point read: one call. See the port for what is raised."""
        try:
            await self._database.enter()
            found = await self._container.read_item(document_id, partition_key=partition)
        except CosmosHttpResponseError as error:
            if is_missing(error):
                return None
            raise read_error(error) from error
        except (AzureError, ValueError, TypeError) as error:
            raise read_error(error) from error
        return _stored(found)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """One query of one page. See the port for what is raised."""
        try:
            await self._database.enter()
            found = self._container.query_items(
                "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)",
                parameters=[{"name": "@ids", "value": list(document_ids)}],
                partition_key=partition,
                max_item_count=READ_DOCUMENTS_MAX,
            )
            return {str(item["id"]): _stored(item) async for item in found}
        except (AzureError, ValueError, TypeError) as error:
            raise read_error(error) from error

    async def find(
        self, find: Find, *, partition: str | None = None, continuation: str | None = None, documents_max: int = 100
    ) -> Page:
        """One page of a query. See the port for what is raised."""
        # Neither null nor absent: what is absent compares with nothing.
        conditions = [f"c.{find.has} != null", *(f"c.{name} = @{name}" for name in find.equals)]
        options: dict[str, Any] = {} if partition is None else {"partition_key": partition}
        try:
            await self._database.enter()
            pages = self._container.query_items(
                f"SELECT * FROM c WHERE {' AND '.join(conditions)}",  # noqa: S608 - names of our own; values are parameters
                parameters=[{"name": f"@{name}", "value": value} for name, value in find.equals.items()],
                max_item_count=documents_max,
                **options,
            ).by_page(continuation)
            page = await anext(pages, None)
            if page is None:
                return Page(())
            documents = tuple([_stored(item) async for item in page])
            # Of the SDK's page iterator, which its base class does not name.
            return Page(documents, cast("Any", pages).continuation_token)
        except CosmosHttpResponseError as error:
            if error.status_code == 400 and continuation is not None:
                raise unknown_continuation() from error
            raise read_error(error) from error
        except (AzureError, ValueError, TypeError) as error:
            raise read_error(error) from error

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Create, or transactional batch: one call. See the port for what is returned."""
        if too_large := _too_large(writes):
            return too_large
        try:
            await self._database.enter()
            match writes:
                case [Create(body)]:
                    # no_response: the headers alone tell the ETag.
                    created = await self._container.create_item(body, no_response=True)
                    return Committed((str(created.get_response_headers().get("ETag", "")),))
                case _:
                    operations = [_operation(write) for write in writes]
                    results = await self._container.execute_item_batch(operations, partition_key=partition)
                    return Committed(tuple(str(result.get("eTag", "")) for result in results))
        except (AzureError, ValueError, TypeError) as error:
            return commit_outcome(error)


def _stored(item: Mapping[str, Any]) -> StoredDocument:
    return StoredDocument(
        {name: value for name, value in item.items() if name not in _SYSTEM_FIELDS}, str(item["_etag"])
    )


def _operation(write: Write) -> tuple[Any, ...]:
    match write:
        case Create(body):
            return ("create", (body,))
        case Replace(body, etag):
            return ("replace", (body["id"], body), {"if_match_etag": etag})
        case Delete(document_id, etag):
            return ("delete", (document_id,), {"if_match_etag": etag})
        case _:
            assert_never(write)


def _too_large(writes: Sequence[Write]) -> TooLarge | None:
    if len(writes) > BATCH_OPERATIONS_MAX:
        return TooLarge(f"{len(writes)} documents, a batch takes {BATCH_OPERATIONS_MAX}")
    bodies = [write.body for write in writes if not isinstance(write, Delete)]
    size = sum(map(len, map(msgspec.json.encode, bodies))) + len(writes) * _OPERATION_BYTES
    if size > BATCH_BYTES_MAX:
        return TooLarge(f"{size} bytes in one batch, the limit is {BATCH_BYTES_MAX}")
    return None
