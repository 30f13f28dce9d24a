"""Shapes of messages, states and events, and how bytes become a message.

    class PointsGranted(Message):
        grant_id: str
        customer_id: str
        points: int

reads `{"type": "PointsGranted", "schemaVersion": 1, "grantId": ..., "customerId": ..., "points": ...}`: field names
are camel case, unknown fields are refused, `type` is the class name.
"""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Final, TypeAliasType

import msgspec

from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.json_text import Json, JsonTextError, read_json
from shared.idempotency.keys import IDENTIFIER_RULE, is_identifier

SCHEMA_VERSION: Final = 1
BODY_BYTES_MAX: Final = 128 * 1024
"""Half of what the Standard tier carries, so that the event of a message fits a message again."""

_OFFSET_TIME: Final = Annotated[datetime, msgspec.Meta(tz=True)]
_INSTANT_RULE: Final = 'must be a time with its offset such as "2026-03-02T09:30:00Z", in the years 1 to 9999'
_MONEY: Final = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?")


class Message(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="type",
    tag=True,
):
    """Base of a business message. Subclasses list its fields; all of them but `schemaVersion` are hashed."""

    schema_version: int = SCHEMA_VERSION


class State(msgspec.Struct, frozen=True, rename="camel"):
    """Base of a state document's business fields. The engine adds id, type, versions, numbers and times."""


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the data of an integration event. The engine wraps it as a CloudEvent."""


class Identifier(str):
    """An id that Service Bus, Cosmos DB and URLs all carry unchanged; see `keys.IDENTIFIER_RULE`."""

    __slots__ = ()


class Instant(datetime):
    """A moment, in UTC. In JSON it is RFC 3339 text; any offset is taken, none is refused, `Z` is written."""

    __slots__ = ()


class Money(Decimal):
    """An amount as decimal text: up to 15 digits before the point and 6 behind it. JSON numbers are refused."""

    __slots__ = ()


class _InvalidIdentifierError(ValueError):
    """Marks a validation error whose dead-letter reason is `InvalidIdentifier`."""


def parse_message[M: Message](body: bytes, shape: type[M] | TypeAliasType, *, bytes_max: int = BODY_BYTES_MAX) -> M:
    """Read a message body.

    Args:
        body: UTF-8 JSON.
        shape: a `Message` class, or a union of such classes told apart by `type`.
        bytes_max: the largest body taken.

    Returns:
        The message, complete and valid.

    Raises:
        PermanentError: `PayloadTooLarge`, `MalformedMessage`, `UnknownSchemaVersion`, `InvalidIdentifier` or
            `InvalidMessage`; the description names the first faulty field and the rule.
    """
    if len(body) > bytes_max:
        raise PermanentError(
            DeadLetterReason.PAYLOAD_TOO_LARGE, f"body: {len(body)} bytes, the limit is {bytes_max} bytes"
        )
    try:
        value = read_json(body)
    except JsonTextError as error:
        raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, f"body: {error}") from None
    return convert_message(value, shape)


def convert_message[M: Message](value: Json, shape: type[M] | TypeAliasType) -> M:
    """Read a message from JSON that is parsed already.

    Raises:
        PermanentError: as `parse_message`, but for size and syntax.
    """
    _check_header(value)
    try:
        message: M = msgspec.convert(value, shape, dec_hook=decode_custom)
    except msgspec.ValidationError as error:
        reason = (
            DeadLetterReason.INVALID_IDENTIFIER
            if isinstance(error.__cause__, _InvalidIdentifierError)
            else DeadLetterReason.INVALID_MESSAGE
        )
        raise PermanentError(reason, str(error)) from None
    return message


def _check_header(value: Json) -> None:
    """Say what kind of message this is before its fields are read: a newer version's fields are unknown here."""
    if not isinstance(value, dict):
        raise PermanentError(DeadLetterReason.INVALID_MESSAGE, "body: must be a JSON object")
    if "type" not in value:
        # A queue that carries one type today may carry two tomorrow.
        raise PermanentError(DeadLetterReason.INVALID_MESSAGE, "type: is missing")
    version = value.get("schemaVersion", SCHEMA_VERSION)
    if version is True or version is False or not isinstance(version, int) or version < 1:
        raise PermanentError(DeadLetterReason.INVALID_MESSAGE, "schemaVersion: must be an integer, 1 or more")
    if version > SCHEMA_VERSION:
        raise PermanentError(
            DeadLetterReason.UNKNOWN_SCHEMA_VERSION,
            f"schemaVersion: {version} is newer than {SCHEMA_VERSION}; upgrade this app, then resubmit",
        )


def decode_custom(shape: type, value: object) -> object:
    """Read the field types that msgspec does not know.

    Raises:
        ValueError: the rule that the value breaks; msgspec adds the field's path.
    """
    if shape is Identifier:
        if not isinstance(value, str) or not is_identifier(value):
            raise _InvalidIdentifierError(f"must be {IDENTIFIER_RULE}")
        return Identifier(value)
    if shape is Instant:
        return _instant(value)
    if shape is Money:
        if not isinstance(value, str) or _MONEY.fullmatch(value) is None:
            raise ValueError('must be a decimal string such as "12.50" (15 digits, 6 decimals), not a JSON number')
        return Money(value)
    raise NotImplementedError(f"no rule to read {shape.__name__}")


def _instant(value: object) -> Instant:
    try:
        time: datetime = msgspec.convert(value, _OFFSET_TIME).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):
        raise ValueError(_INSTANT_RULE) from None
    return Instant.combine(time.date(), time.timetz())


def encode_custom(value: object) -> object:
    """Write the field types that msgspec does not know."""
    if isinstance(value, Identifier):
        return str(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, datetime):
        return utc_text(value)
    raise NotImplementedError(f"no rule to write {type(value).__name__}")


def decimal_text(value: Decimal) -> str:
    """The one spelling of an amount: no exponent, no trailing zeros, no negative zero."""
    if value == 0:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def utc_text(value: datetime) -> str:
    """The one spelling of a time: RFC 3339 with `Z`, no trailing zeros behind the second.

    Raises:
        ValueError: the time has no offset.
    """
    if value.tzinfo is None:
        raise ValueError("a time must have an offset, such as tzinfo=UTC")
    utc = value.astimezone(UTC)
    text = utc.replace(microsecond=0, tzinfo=None).isoformat()
    fraction = f".{utc.microsecond:06d}".rstrip("0") if utc.microsecond else ""
    return f"{text}{fraction}Z"


def to_document(value: msgspec.Struct) -> dict[str, Json]:
    """The JSON object of a message, state or event, as it is stored and sent."""
    document: dict[str, Json] = msgspec.to_builtins(value, enc_hook=encode_custom)
    return document
