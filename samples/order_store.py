"""The container `orders` through the Cosmos DB SDK: what one order left in its partition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from azure.cosmos.aio import ContainerProxy

type Document = Mapping[str, Any]
"""A document as the SDK returns it."""


@dataclass(frozen=True, slots=True)
class Partition:
    """All documents of one order."""

    order: Document | None
    events: tuple[Document, ...]
    others: tuple[Document, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever stored for this order."""
        return self.order is None and not self.events and not self.others


async def read_partition(container: ContainerProxy, order_id: str) -> Partition:
    """Read an order's whole partition.

    Raises:
        CosmosHttpResponseError: the store refuses the query.
    """
    query = container.query_items("SELECT * FROM c", partition_key=order_id)
    return sort_documents(order_id, [document async for document in query])


def sort_documents(order_id: str, documents: list[Document]) -> Partition:
    """Tell an order's documents apart: the order has the order's id, an outbox event the type `outbox`."""
    orders = [document for document in documents if document["id"] == order_id]
    events = [document for document in documents if document.get("type") == "outbox"]
    others = [document for document in documents if document not in orders and document not in events]
    return Partition(order=orders[0] if orders else None, events=tuple(events), others=tuple(others))


def without_system_fields(document: Document) -> dict[str, Any]:
    """Return a document without what Cosmos DB adds to each (`_rid`, `_ts`, `_etag` ...)."""
    return {name: value for name, value in document.items() if not name.startswith("_")}
