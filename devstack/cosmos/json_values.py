"""JSON as Cosmos DB stores it: numbers are IEEE 754 doubles, text is valid Unicode."""

import json
import math
from typing import Final, NoReturn, TypeIs

from devstack.cosmos.errors import CosmosError, bad_request

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None
type JsonObject = dict[str, Json]

EXACT_INTEGER_MAX: Final = 2**53

# Source: "Azure Cosmos DB service quotas", per-item limits.
NESTING_MAX: Final = 128


def read_json(body: bytes) -> Json:
    """Read a request body.

    Returns:
        The value with its numbers as Cosmos DB keeps them: an integer beyond 2^53 loses its last digits, and
        a float without a fraction comes back as an integer.

    Raises:
        CosmosError: 400, if the body is not UTF-8, not JSON, nested more than 128 deep, or holds a number that
            no double can.
    """
    try:
        value: Json = json.loads(
            body.decode("utf-8"), parse_int=_number, parse_float=_number, parse_constant=_refuse_constant
        )
    except UnicodeDecodeError as error:
        raise bad_request("The request body is not valid UTF-8.") from error
    except json.JSONDecodeError as error:
        raise bad_request(f"The request body is not valid JSON: {error.msg} at character {error.pos}.") from error
    except RecursionError as error:
        raise _too_deep() from error
    # Most bodies hold too few brackets to be deep, and are not walked.
    if body.count(b"[") + body.count(b"{") > NESTING_MAX:
        _require_depth(value)
    return value


def write_json(value: Json) -> bytes:
    """Write a value as compact UTF-8 JSON.

    Raises:
        CosmosError: 400, if a string holds a lone surrogate, which UTF-8 cannot carry.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise bad_request("A string in the request holds a lone surrogate (half of a UTF-16 pair).") from error


def as_object(value: Json, what: str) -> JsonObject:
    """Return the value if it is a JSON object.

    Raises:
        CosmosError: 400 that names what was expected to be an object.
    """
    if not isinstance(value, dict):
        raise bad_request(f"{what} must be a JSON object.")
    return value


def is_number(value: Json) -> TypeIs[int | float]:
    """Whether a value is a JSON number; Python counts booleans as integers, JSON does not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def stored_number(value: int | float) -> int | float:
    """The number that a store of doubles gives back: exact up to 2^53, whole numbers without a fraction.

    Raises:
        CosmosError: 400, if it is too large for a double.
    """
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if math.isinf(double):
        raise bad_request("A number is too large for a double.")
    return int(double) if double.is_integer() and abs(double) <= EXACT_INTEGER_MAX else double


def _require_depth(value: Json) -> None:
    level = [value]
    for _ in range(NESTING_MAX):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
    if any(isinstance(value, dict | list) for value in level):
        raise _too_deep()


def _too_deep() -> CosmosError:
    return bad_request(f"The request body is nested more than {NESTING_MAX} deep.")


def _number(text: str) -> int | float:
    return stored_number(float(text))


def _refuse_constant(name: str) -> NoReturn:
    raise bad_request(f"The request body holds {name}, which is not JSON.")
