"""Strict JSON: what two parsers could read differently is refused.

Refused: anything but UTF-8 without byte order mark, duplicate keys, NaN and Infinity, numbers that lose digits
(integers beyond 2^53 - 1, floats that overflow), lone surrogates, nesting deeper than 32. A member that is null is
left out: absent and null are the same everywhere in this project.
Source: RFC 8785 section 3.1 and RFC 7493 (I-JSON) section 2.
"""

import json
import math
import re
from typing import Final, Never

DEPTH_MAX: Final = 32
INTEGER_MAX: Final = 2**53 - 1

_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

type Json = dict[str, Json] | list[Json] | str | int | float | bool | None


class JsonTextError(ValueError):
    """The text is not strict JSON; the message names the rule, and where it can, the key."""


def read_json(text: bytes) -> Json:
    """Parse strict JSON.

    Raises:
        JsonTextError: a rule of this module is broken.
    """
    if _too_deep(text):
        raise JsonTextError(f"nested deeper than {DEPTH_MAX} levels")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonTextError(f"not UTF-8 at byte {error.start}") from None
    if decoded.startswith("\ufeff"):
        raise JsonTextError("begins with a byte order mark")
    try:
        value: Json = _DECODER.decode(decoded)
    except json.JSONDecodeError as error:
        raise JsonTextError(f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}") from None
    # Escapes can spell half of a surrogate pair, which no UTF-8 text can carry onwards. The C scanner joins whole
    # pairs, so that what is left is lone.
    if "\\u" in decoded and _has_surrogate(value):
        raise JsonTextError("a string holds a lone surrogate")
    return value


def _too_deep(text: bytes) -> bool:
    # The count of all openings bounds the depth, and costs next to nothing.
    if text.count(b"[") + text.count(b"{") <= DEPTH_MAX:
        return False
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        match text[token.start()]:
            case 0x5B | 0x7B:
                depth += 1
                if depth > DEPTH_MAX:
                    return True
            case 0x5D | 0x7D:
                depth -= 1
    return False


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonTextError(f"duplicate key {key[:100]!r}")
            seen.add(key)
    return {key: value for key, value in found.items() if value is not None}


def _integer(digits: str) -> int:
    # The length first: int() of thousands of digits is refused by Python itself, in words that help nobody.
    if len(digits) > 17 or abs(value := int(digits)) > INTEGER_MAX:
        raise JsonTextError("an integer lies beyond 2^53 - 1; send it as a string")
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise JsonTextError("a number overflows; send it as a string")
    return value


def _constant(name: str) -> Never:
    raise JsonTextError(f"{name} is not JSON")


def _has_surrogate(value: Json) -> bool:
    match value:
        case str():
            return _SURROGATE.search(value) is not None
        case list():
            return any(map(_has_surrogate, value))
        case dict():
            return any(_has_surrogate(key) or _has_surrogate(item) for key, item in value.items())
        case _:
            return False


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
