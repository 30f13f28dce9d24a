"""The producer's side of request hash v1 and of the MessageId, written from their definition alone.

A producer needs no code of the product: SHA-256 over RFC 8785 JSON of the operation's business fields. This
is that rule for `OrderPlaced`, in a form to copy into another producer, or to translate.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

import rfc8785

type Json = str | int | bool | list["Json"] | dict[str, "Json"] | None

type Fields = Mapping[str, Json]


def request_hash(order: Fields) -> str:
    """Return the request hash of an `OrderPlaced` message as `v1:` and 64 hex digits.

    Two messages have one hash exactly if they say the same: key order, a default that is written out, the
    notation of a decimal (10.00 or 10) and the zone of a time do not count. The order of lines does, and
    strings count as they are, without Unicode normalisation.

    Source: RFC 8785 (JSON Canonicalization Scheme).

    Raises:
        KeyError: `occurredAt`, `lines` or a line's `unitPrice` is missing.
        TypeError: `lines` is not a list of objects.
        ValueError: `occurredAt` is no time with its zone, or a `unitPrice` no finite decimal.
    """
    canonical = rfc8785.dumps(_business_fields(order))
    return f"v1:{hashlib.sha256(canonical).hexdigest()}"


def message_id(order: Fields, suffix: str = "") -> str:
    """Return the MessageId `{operationId}~{h}[~suffix]`; h is the first 16 hex digits of the hash.

    The broker's duplicate detection compares MessageIds alone: an identical resend is dropped there, a
    changed one passes and is found by the app. A suffix (`copy1`) lets a deliberate copy pass.
    """
    first_digits = request_hash(order).removeprefix("v1:")[:16]
    return "~".join(part for part in (str(order["operationId"]), first_digits, suffix) if part)


def _business_fields(order: Fields) -> dict[str, Json]:
    # schemaVersion says how the message is written down, not what it says.
    fields = _stated(order) | {"occurredAt": _utc(str(order["occurredAt"]))}
    fields.pop("schemaVersion", None)
    if fields.get("endOfSequence") is False:
        del fields["endOfSequence"]
    return fields | {"lines": [_line_fields(line) for line in _lines(order)]}


def _lines(order: Fields) -> list[Json]:
    lines = order["lines"]
    if not isinstance(lines, list):
        raise TypeError("lines: must be a list")
    return lines


def _line_fields(line: Json) -> Json:
    if not isinstance(line, dict):
        raise TypeError("lines: each must be an object")
    return _stated(line) | {"unitPrice": _plain_decimal(str(line["unitPrice"]))}


def _stated(fields: Fields) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}


def _utc(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"occurredAt: must name its zone, such as 2009-12-01T07:45:00Z; got {text}")
    whole, _, fraction = moment.astimezone(UTC).replace(tzinfo=None).isoformat().partition(".")
    return f"{whole}.{fraction}".rstrip("0").rstrip(".") + "Z" if fraction else f"{whole}Z"


def _plain_decimal(text: str) -> str:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"unitPrice: must be a decimal; got {text}") from error
    if not number.is_finite():
        raise ValueError(f"unitPrice: must be finite; got {text}")
    # Not Decimal.normalize(): it rounds to the context's 28 digits.
    plain = f"{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if number == 0 else plain
