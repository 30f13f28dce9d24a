"""Partial document update: up to ten operations, applied in sequence, all or none.

Source: "Partial document update in Azure Cosmos DB" (operations, array rules, limits).
"""

import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from devstack.cosmos.errors import bad_request, precondition_failed
from devstack.cosmos.items.pointer import Pointer, parse_pointer
from devstack.cosmos.json_values import Json, JsonObject, as_object, is_number, stored_number
from devstack.cosmos.query.condition import parse_condition
from devstack.cosmos.query.evaluate import is_true
from devstack.cosmos.query.syntax import Expression

OPERATIONS_MAX: Final = 10

_SYSTEM_PROPERTIES: Final = ("_rid", "_self", "_etag", "_attachments", "_ts")


class PatchKind(StrEnum):
    """The words of ``op``."""

    ADD = "add"
    SET = "set"
    REPLACE = "replace"
    REMOVE = "remove"
    INCREMENT = "incr"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class PatchOperation:
    """One change; ``source`` is set for a move alone, ``value`` for all but remove and move."""

    kind: PatchKind
    target: Pointer
    value: Json = None
    source: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """The operations and the condition that the item must satisfy first, if there is one."""

    operations: tuple[PatchOperation, ...]
    condition: Expression | None = None


def parse_patch(body: Json) -> Patch:
    """Read a patch body: ``{"operations": [...], "condition": "from c where ..."}`` or the bare list.

    Raises:
        CosmosError: 400 that names the operation and the rule.
    """
    fields: JsonObject = {"operations": body} if isinstance(body, list) else as_object(body, "The patch")
    operations = fields.get("operations")
    if not isinstance(operations, list) or not operations:
        raise bad_request("A patch must hold a list 'operations' of at least one operation.")
    if len(operations) > OPERATIONS_MAX:
        raise bad_request(f"A patch must hold at most {OPERATIONS_MAX} operations, not {len(operations)}.")
    condition = fields.get("condition")
    if condition is not None and not isinstance(condition, str):
        raise bad_request("The condition of a patch must be text.")
    return Patch(
        operations=tuple(_parse_operation(index, operation) for index, operation in enumerate(operations)),
        condition=None if condition is None else parse_condition(condition),
    )


def apply_patch(patch: Patch, document: JsonObject, partition_key_path: str) -> JsonObject:
    """Apply a patch to a copy of a document.

    Raises:
        CosmosError: 412, if the condition is not true; 400, if a path does not fit the document, or an
            operation touches the id, the partition key or a system property.
    """
    if patch.condition is not None and not is_true(patch.condition, document, {}):
        raise precondition_failed()
    result = copy.deepcopy(document)
    for operation in patch.operations:
        _require_mutable(operation.target, partition_key_path)
        _apply(operation, result, partition_key_path)
    return result


def _parse_operation(index: int, body: Json) -> PatchOperation:
    where = f"Patch operation {index}"
    fields = as_object(body, where)
    try:
        kind = PatchKind(str(fields.get("op")).lower())
    except ValueError as error:
        raise bad_request(f"{where}: 'op' must be one of {', '.join(PatchKind)}.") from error
    target = parse_pointer(fields.get("path"), f"{where}: 'path'")
    if kind is PatchKind.MOVE:
        return PatchOperation(kind, target, source=parse_pointer(fields.get("from"), f"{where}: 'from'"))
    if kind is PatchKind.REMOVE:
        return PatchOperation(kind, target)
    if "value" not in fields:
        raise bad_request(f"{where}: 'value' is missing.")
    value = fields["value"]
    if kind is PatchKind.INCREMENT and not is_number(value):
        raise bad_request(f"{where}: 'value' of an increment must be a number.")
    return PatchOperation(kind, target, value)


def _require_mutable(target: Pointer, partition_key_path: str) -> None:
    if target.names[0] in ("id", *_SYSTEM_PROPERTIES):
        raise bad_request(f"{target}: a patch cannot change the id or a system property.")
    key = tuple(partition_key_path.removeprefix("/").split("/"))
    if target.names == key[: len(target.names)]:
        raise bad_request(f"{target}: a patch cannot change the partition key.")


def _apply(operation: PatchOperation, document: JsonObject, partition_key_path: str) -> None:
    target, value = operation.target, copy.deepcopy(operation.value)
    match operation.kind:
        case PatchKind.ADD:
            target.insert(document, value)
        case PatchKind.SET:
            target.put(document, value)
        case PatchKind.REPLACE:
            target.take(document)
            target.insert(document, value)
        case PatchKind.REMOVE:
            target.take(document)
        case PatchKind.INCREMENT:
            _increment(target, document, value)
        case PatchKind.MOVE:
            _move(operation, document, partition_key_path)
        case _:
            assert_never(operation.kind)


def _increment(target: Pointer, document: JsonObject, value: Json) -> None:
    current = target.get(document) if target.exists(document) else 0
    if not is_number(current) or not is_number(value):
        raise bad_request(f"{target}: an increment needs a number, and the item holds something else.")
    target.put(document, stored_number(current + value))


def _move(operation: PatchOperation, document: JsonObject, partition_key_path: str) -> None:
    source, target = operation.source, operation.target
    if source is None:
        raise bad_request(f"{target}: a move needs 'from'.")
    _require_mutable(source, partition_key_path)
    if target.names[: len(source.names)] == source.names:
        raise bad_request(f"{target}: a move cannot put a value into itself.")
    target.insert(document, source.take(document))
