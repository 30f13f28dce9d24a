"""One operation on one logical partition."""

from typing import assert_never

from devstack.cosmos.charges import read_charge, write_charge
from devstack.cosmos.errors import bad_request, conflict, item_not_found, precondition_failed
from devstack.cosmos.items.document import item_id, require_size
from devstack.cosmos.items.operations import (
    Create,
    Delete,
    Operation,
    Outcome,
    PatchItem,
    Read,
    Replace,
    Upsert,
)
from devstack.cosmos.items.partition_key import require_match
from devstack.cosmos.items.patch import apply_patch
from devstack.cosmos.json_values import JsonObject, as_object, read_json
from devstack.cosmos.store.partition import Partition, StoredItem


def execute(partition: Partition, operation: Operation) -> Outcome:
    """Execute an operation inside the partition's transaction.

    Raises:
        CosmosError: the operation's refusal; the caller lets it roll the transaction back.
    """
    match operation:
        case Create(document=document):
            return _create(partition, document)
        case Upsert(document=document, if_match=if_match):
            return _upsert(partition, document, if_match)
        case Replace(id=id_, document=document, if_match=if_match):
            return _replace(partition, id_, document, if_match)
        case PatchItem():
            return _patch(partition, operation)
        case Delete(id=id_, if_match=if_match):
            stored = _existing(partition, id_, if_match)
            partition.remove(stored)
            return Outcome(204, write_charge(len(stored.body)))
        case Read(id=id_, if_none_match=if_none_match):
            return _read(partition, id_, if_none_match)
        case _:
            assert_never(operation)


def _create(partition: Partition, document: JsonObject) -> Outcome:
    id_ = _checked_id(partition, document)
    if partition.find(id_) is not None:
        raise conflict()
    return _written(201, partition.insert(id_, document))


def _upsert(partition: Partition, document: JsonObject, if_match: str | None) -> Outcome:
    id_ = _checked_id(partition, document)
    stored = partition.find(id_)
    if stored is None:
        return _written(201, partition.insert(id_, document))
    _require_etag(stored, if_match)
    return _written(200, partition.overwrite(stored, document))


def _replace(partition: Partition, id_: str, document: JsonObject, if_match: str | None) -> Outcome:
    if _checked_id(partition, document) != id_:
        raise bad_request("The property 'id' differs from the id of the item that is replaced.")
    return _written(200, partition.overwrite(_existing(partition, id_, if_match), document))


def _patch(partition: Partition, operation: PatchItem) -> Outcome:
    stored = _existing(partition, operation.id, operation.if_match)
    before = as_object(read_json(stored.body), "The stored item")
    after = apply_patch(operation.patch, before, partition.container.settings.partition_key)
    return _written(200, partition.overwrite(stored, after))


def _read(partition: Partition, id_: str, if_none_match: str | None) -> Outcome:
    stored = _existing(partition, id_, None)
    charge = read_charge(len(stored.body))
    if if_none_match in (stored.etag, "*"):
        return Outcome(304, charge, stored.etag)
    return Outcome(200, charge, stored.etag, stored.body)


def _checked_id(partition: Partition, document: JsonObject) -> str:
    id_ = item_id(document)
    require_match(document, partition.container.settings.partition_key, partition.partition_key)
    return id_


def _existing(partition: Partition, id_: str, if_match: str | None) -> StoredItem:
    stored = partition.find(id_)
    if stored is None:
        raise item_not_found()
    _require_etag(stored, if_match)
    return stored


def _require_etag(stored: StoredItem, if_match: str | None) -> None:
    if if_match is not None and if_match not in (stored.etag, "*"):
        raise precondition_failed()


def _written(status: int, item: StoredItem) -> Outcome:
    require_size(len(item.body))
    return Outcome(status, write_charge(len(item.body)), item.etag, item.body)
