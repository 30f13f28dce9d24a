"""Queries over one logical partition; plain filters over all of them."""

import hashlib

from devstack.cosmos.charges import query_charge
from devstack.cosmos.errors import bad_request
from devstack.cosmos.items.partition_key import from_header
from devstack.cosmos.json_values import Json, as_object, read_json
from devstack.cosmos.query.indexing import require_indexed
from devstack.cosmos.query.pages import PageRequest, Row, run_query
from devstack.cosmos.query.parser import parse_query
from devstack.cosmos.query.syntax import Literal, Query, SelectCount
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire import headers as names
from devstack.cosmos.wire.answers import Answer, feed_answer
from devstack.cosmos.wire.request import Request


def answer_query(store: Store, container: Container, request: Request) -> Answer:
    """Answer one page of a query.

    Raises:
        CosmosError: 400, if it is not of the supported subset.
    """
    header = request.headers.get(names.PARTITION_KEY)
    partition_key = None if header is None else from_header(header)
    if partition_key is None and not names.flag(request.headers, names.CROSS_PARTITION):
        raise bad_request("Cross-partition query is required but disabled: enable it, or pass a partition key.")
    body = as_object(read_json(request.body), "The body of a query")
    text = body.get("query")
    if not isinstance(text, str):
        raise bad_request("The body of a query must hold the text 'query'.")
    query = parse_query(text)
    if query.order_by is not None:
        require_indexed(query.order_by, container.settings.indexing)
    if partition_key is None and not _is_plain_filter(query):
        raise bad_request("Over all partitions, the local emulator serves filters alone: pass a partition key.")
    parameters = _parameters(body.get("parameters"))
    items = store.read_feed(container, partition_key, 0, -1)
    page = run_query(
        query,
        parameters,
        (Row(item.number, as_object(read_json(item.body), "The stored item")) for item in items),
        PageRequest(
            query_id=_query_id(request.body, partition_key),
            count_max=names.page_items_max(request.headers),
            continuation=request.headers.get(names.CONTINUATION),
        ),
    )
    return feed_answer(
        container.rid,
        "Documents",
        page.results,
        charge=query_charge(sum(len(result) for result in page.results)),
        continuation=page.continuation,
    )


def _is_plain_filter(query: Query) -> bool:
    """What Azure's gateway answers without a query plan, partition by partition."""
    return (
        query.order_by is None
        and query.limit is None
        and query.offset == Literal(0)
        and not isinstance(query.selection, SelectCount)
    )


def _query_id(body: bytes, partition_key: str | None) -> str:
    return hashlib.sha256((partition_key or "").encode() + b"\n" + body).hexdigest()[:16]


def _parameters(value: Json) -> dict[str, Json]:
    if value is None:
        return {}
    if not isinstance(value, list):
        raise bad_request("The 'parameters' of a query must be a list.")
    parameters: dict[str, Json] = {}
    for entry in value:
        match entry:
            case {"name": str(name), "value": parameter} if name.startswith("@"):
                parameters[name] = parameter
            case _:
                raise bad_request("A query parameter must have a 'name' that begins with @, and a 'value'.")
    return parameters
