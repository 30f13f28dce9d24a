"""What a handler answers, before it becomes an HTTP response."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from devstack.cosmos.charges import METADATA, error_charge
from devstack.cosmos.errors import CosmosError
from devstack.cosmos.items.operations import Outcome
from devstack.cosmos.json_values import JsonObject, write_json
from devstack.cosmos.wire import headers as names


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body and the headers that belong to this answer alone; ``charge`` in request units."""

    status: int
    body: bytes = b""
    charge: float = METADATA
    headers: Mapping[str, str] = field(default_factory=dict)


def resource_answer(document: JsonObject) -> Answer:
    """200 with one resource and its ETag."""
    etag = document.get("_etag")
    return Answer(200, write_json(document), headers={"ETag": etag} if isinstance(etag, str) else {})


def item_answer(outcome: Outcome, *, minimal: bool) -> Answer:
    """The answer to an operation on one item."""
    body = b"" if minimal or outcome.body is None else outcome.body
    return Answer(outcome.status, body, outcome.charge, {"ETag": outcome.etag} if outcome.etag else {})


def feed_answer(
    rid: str,
    member: str,
    resources: Sequence[bytes],
    *,
    charge: float = METADATA,
    continuation: str | None = None,
) -> Answer:
    """200 with a list of resources, each as JSON, under the member's name."""
    prefix = write_json({"_rid": rid}).removesuffix(b"}")
    body = b'%s,"%s":[%s],"_count":%d}' % (prefix, member.encode(), b",".join(resources), len(resources))
    headers = {names.ITEM_COUNT: str(len(resources))}
    if continuation is not None:
        headers[names.CONTINUATION] = continuation
    return Answer(200, body, charge, headers)


def error_answer(error: CosmosError, activity_id: str) -> Answer:
    """The JSON body of an error; its message names the activity id, by which the log has the cause."""
    message = f"{error.message}\r\nActivityId: {activity_id}"
    return Answer(
        error.status,
        write_json({"code": error.code, "message": message}),
        error_charge(error.status),
        {names.SUB_STATUS: str(error.sub_status)},
    )
