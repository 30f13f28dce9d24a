"""HTTP answers as data, and errors as RFC 9457 problem details."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import msgspec

from shared.idempotency.json_text import Json
from shared.idempotency.messages import encode_custom

_PROBLEM_JSON: Final = "application/problem+json"
_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP answer.

    Attributes:
        status: its code.
        body: JSON bytes.
        media_type: of the body.
        headers: further headers.
    """

    status: int
    body: bytes
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(status: int, value: Json, *, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer that carries a JSON value."""
    body = msgspec.json.encode(value, enc_hook=encode_custom)
    return Answer(status=status, body=body, media_type=_JSON, headers=headers or {})


def problem(
    status: int,
    detail: str,
    *,
    reason: str | None = None,
    faults: Sequence[Json] = (),
    retry_after_seconds: int | None = None,
) -> Answer:
    """An error that says what is wrong.

    Args:
        status: HTTP status; its phrase becomes `title`, so that `type` may stay `about:blank`.
        detail: names the field and the rule, or what to do.
        reason: extension member, one of the public dead-letter reasons.
        faults: extension member, one for each line that is wrong.
        retry_after_seconds: for 503 and 429, when another try makes sense.
    """
    value: dict[str, Json] = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    if reason is not None:
        value["reason"] = reason
    if faults:
        value["faults"] = list(faults)
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    return Answer(status=status, body=msgspec.json.encode(value), media_type=_PROBLEM_JSON, headers=headers)
