"""Request hash: whether two messages with one key ask for the same thing.

Version 1 is SHA-256 over the RFC 8785 JSON of the message's business fields and its `type`: absent, null and default
are the same (left out), amounts and times in one spelling, strings as received, lists in order; `schemaVersion` is
left out. Stored as `v1:<64 hex digits>`.

A stored hash is compared by the rule of its own version and never recomputed from a stored document: storage may
change the spelling of a number. A version that this code does not know was written by newer code: retry.
"""

import functools
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

import msgspec

from shared.idempotency.canonical_json import canonical_text
from shared.idempotency.errors import NewerVersionError
from shared.idempotency.json_text import Json
from shared.idempotency.messages import Message, decimal_text, utc_text

CURRENT_VERSION: Final = "v1"


def request_hash(message: Message) -> str:
    """The hash that is written with a message: `v1:<64 hex digits>`."""
    return f"{CURRENT_VERSION}:{_VERSIONS[CURRENT_VERSION](message)}"


def same_request(message: Message, stored_hash: str) -> bool:
    """Whether the message asks for what the stored hash stands for.

    Raises:
        NewerVersionError: the stored hash has a version that this code does not know; retry.
    """
    version, _, digest = stored_hash.partition(":")
    rule = _VERSIONS.get(version)
    if rule is None:
        raise NewerVersionError(f"request hash version {version[:10]} is not known to this code")
    return rule(message) == digest


def _v1(message: Message) -> str:
    fields = _fields(message)
    fields.pop("schemaVersion", None)
    return hashlib.sha256(canonical_text(fields)).hexdigest()


def _fields(value: msgspec.Struct) -> dict[str, Json]:
    config = value.__struct_config__
    fields: dict[str, Json] = {}
    if config.tag_field is not None:
        fields[config.tag_field] = config.tag
    for field in _fields_of(type(value)):
        item = getattr(value, field.name)
        if item is None or item == _default(field):
            continue
        fields[field.encode_name] = _canonical(item)
    return fields


# Reading a class's fields costs more than hashing them.
_fields_of = functools.cache(msgspec.structs.fields)


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _canonical(value: object) -> Json:
    match value:
        case str():
            return str(value)
        case msgspec.Struct():
            return _fields(value)
        case bool() | int() | float() | None:
            return value
        case Decimal():
            return decimal_text(value)
        case datetime():
            return utc_text(value)
        case Mapping():
            return {str(key): _canonical(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [_canonical(item) for item in value]
        case _:
            raise TypeError(f"no canonical form for a field of type {type(value).__name__}")


_VERSIONS: Final[Mapping[str, Callable[[Message], str]]] = {"v1": _v1}
