"""Requests on items: one item, a batch, a feed."""

from typing import assert_never

from devstack.cosmos.charges import query_charge
from devstack.cosmos.errors import bad_request, method_not_allowed
from devstack.cosmos.items.batch import Committed, RolledBack, execute_batch
from devstack.cosmos.items.document import require_size
from devstack.cosmos.items.execute import execute
from devstack.cosmos.items.operations import Create, Delete, Operation, PatchItem, Read, Replace, Upsert
from devstack.cosmos.items.partition_key import from_header
from devstack.cosmos.items.patch import parse_patch
from devstack.cosmos.json_values import JsonObject, as_object, read_json
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire import headers as names
from devstack.cosmos.wire.answers import Answer, feed_answer, item_answer
from devstack.cosmos.wire.batch_bodies import committed_body, parse_operations, rolled_back_body
from devstack.cosmos.wire.query_requests import answer_query
from devstack.cosmos.wire.request import Request, required_partition_key


def answer_items(store: Store, container: Container, request: Request) -> Answer:
    """Answer a request on a container's items.

    Raises:
        CosmosError: the refusal; nothing was changed.
    """
    headers = request.headers
    if names.INCREMENTAL_FEED in headers:
        raise bad_request("The change feed is not supported by the local emulator.")
    if request.path.item is not None:
        return _single(store, container, request, _item_operation(request, request.path.item))
    if request.verb == "GET":
        return _read_feed(store, container, request)
    if request.verb != "POST":
        raise method_not_allowed(f"{request.verb} is not a verb of the feed of items.")
    # Before the query header: a request for a plan may bear both.
    if names.flag(headers, names.IS_QUERY_PLAN):
        raise bad_request("Query plans are not supported by the local emulator: pass a partition key, or filter only.")
    if names.flag(headers, names.IS_QUERY):
        return answer_query(store, container, request)
    if names.flag(headers, names.IS_BATCH):
        return _batch(store, container, request)
    document = _document(request)
    if names.flag(headers, names.IS_UPSERT):
        return _single(store, container, request, Upsert(document=document, if_match=headers.get("If-Match")))
    return _single(store, container, request, Create(document=document))


def _item_operation(request: Request, item_id: str) -> Operation:
    if_match = request.headers.get("If-Match")
    match request.verb:
        case "GET":
            return Read(id=item_id, if_none_match=request.headers.get("If-None-Match"))
        case "PUT":
            return Replace(id=item_id, document=_document(request), if_match=if_match)
        case "PATCH":
            require_size(len(request.body))
            return PatchItem(id=item_id, patch=parse_patch(read_json(request.body)), if_match=if_match)
        case "DELETE":
            return Delete(id=item_id, if_match=if_match)
        case _:
            raise method_not_allowed(f"{request.verb} is not a verb of an item.")


def _document(request: Request) -> JsonObject:
    require_size(len(request.body))
    return as_object(read_json(request.body), "The request body")


def _single(store: Store, container: Container, request: Request, operation: Operation) -> Answer:
    minimal = not isinstance(operation, Read) and names.prefers_minimal(request.headers)
    with store.partition(container, required_partition_key(request)) as partition:
        outcome = execute(partition, operation)
    return item_answer(outcome, minimal=minimal)


def _batch(store: Store, container: Container, request: Request) -> Answer:
    if not names.flag(request.headers, names.BATCH_ATOMIC):
        raise bad_request("Bulk requests are not supported by the local emulator: only atomic batches are.")
    require_size(len(request.body))
    operations = parse_operations(read_json(request.body))
    minimal = names.prefers_minimal(request.headers)
    match execute_batch(store, container, required_partition_key(request), operations):
        case Committed(outcomes=outcomes):
            charge = sum(outcome.charge for outcome in outcomes)
            return Answer(200, committed_body(outcomes, minimal=minimal), charge)
        case RolledBack() as rolled_back:
            return Answer(207, rolled_back_body(rolled_back.errors), rolled_back.charge)
        case other:
            assert_never(other)


def _read_feed(store: Store, container: Container, request: Request) -> Answer:
    """Items in the sequence of creation: of the partition that the request names, or of all."""
    count_max = names.page_items_max(request.headers)
    continuation = request.headers.get(names.CONTINUATION, "0")
    if not (continuation.isascii() and continuation.isdigit()) or len(continuation) > 18:
        raise bad_request("The continuation token was not made for this feed.")
    header = request.headers.get(names.PARTITION_KEY)
    partition_key = None if header is None else from_header(header)
    items = store.read_feed(container, partition_key, int(continuation), count_max + 1)
    page = items[:count_max]
    return feed_answer(
        container.rid,
        "Documents",
        [item.body for item in page],
        charge=query_charge(sum(len(item.body) for item in page)),
        continuation=str(page[-1].number) if len(items) > count_max else None,
    )
