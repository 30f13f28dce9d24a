"""JSON bodies of transactional batches, as the Python and JS clients speak them."""

from collections.abc import Sequence

from devstack.cosmos.charges import error_charge
from devstack.cosmos.errors import CosmosError, bad_request
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
from devstack.cosmos.items.patch import parse_patch
from devstack.cosmos.json_values import Json, JsonObject, as_object, read_json, write_json


def parse_operations(body: Json) -> tuple[Operation, ...]:
    """Read the operations of a batch.

    Raises:
        CosmosError: 400 that names the operation and the rule.
    """
    if not isinstance(body, list):
        raise bad_request("The body of a batch must be a list of operations.")
    return tuple(_parse_operation(index, operation) for index, operation in enumerate(body))


def committed_body(outcomes: Sequence[Outcome], *, minimal: bool) -> bytes:
    """The results of a batch that took effect; ``minimal`` leaves the items out."""
    return write_json([_result(outcome, minimal=minimal) for outcome in outcomes])


def rolled_back_body(errors: Sequence[CosmosError]) -> bytes:
    """The results of a batch that took no effect."""
    results: list[Json] = [
        {
            "statusCode": error.status,
            "subStatusCode": error.sub_status,
            "requestCharge": error_charge(error.status),
        }
        for error in errors
    ]
    return write_json(results)


def _parse_operation(index: int, value: Json) -> Operation:
    where = f"Operation {index} of the batch"
    fields = as_object(value, where)
    if_match = _optional_text(fields, "ifMatch", where)
    match fields.get("operationType"):
        case "Create":
            return Create(document=_document(fields, where))
        case "Upsert":
            return Upsert(document=_document(fields, where), if_match=if_match)
        case "Replace":
            return Replace(id=_id(fields, where), document=_document(fields, where), if_match=if_match)
        case "Patch":
            return PatchItem(id=_id(fields, where), patch=parse_patch(fields.get("resourceBody")), if_match=if_match)
        case "Delete":
            return Delete(id=_id(fields, where), if_match=if_match)
        case "Read":
            return Read(id=_id(fields, where), if_none_match=_optional_text(fields, "ifNoneMatch", where))
        case _:
            raise bad_request(f"{where}: 'operationType' must be Create, Upsert, Replace, Patch, Delete or Read.")


def _document(fields: JsonObject, where: str) -> JsonObject:
    return as_object(fields.get("resourceBody"), f"{where}: 'resourceBody'")


def _id(fields: JsonObject, where: str) -> str:
    item_id = _optional_text(fields, "id", where)
    if item_id is None:
        raise bad_request(f"{where}: 'id' is missing.")
    return item_id


def _optional_text(fields: JsonObject, name: str, where: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise bad_request(f"{where}: '{name}' must be text.")
    return value


def _result(outcome: Outcome, *, minimal: bool) -> JsonObject:
    result: JsonObject = {"statusCode": outcome.status, "requestCharge": outcome.charge}
    if outcome.etag is not None:
        result["eTag"] = outcome.etag
    if outcome.body is not None and not minimal:
        result["resourceBody"] = read_json(outcome.body)
    return result
