"""Continuation tokens: where the next page of a query begins.

A token names the last row that was read, not a count of rows, so that items which come or go between two
pages neither repeat nor hide others.
"""

import base64
import binascii
from dataclasses import dataclass

from devstack.cosmos.errors import CosmosError, bad_request
from devstack.cosmos.json_values import Json, JsonObject, read_json, write_json


@dataclass(frozen=True, slots=True)
class Position:
    """The last row of a page: its sort key and item number, and how many rows matched up to it."""

    sort_key: tuple[int, bool | int | float | str]
    number: int
    matched: int


def encode_position(position: Position, query_id: str) -> str:
    """A token for the position in that query."""
    rank, key = position.sort_key
    fields: JsonObject = {"q": query_id, "k": [rank, key], "n": position.number, "m": position.matched}
    return base64.urlsafe_b64encode(write_json(fields)).decode("ascii")


def decode_position(token: str, query_id: str) -> Position:
    """The position that a token holds.

    Raises:
        CosmosError: 400, if it was not made by this emulator for the same query.
    """
    try:
        fields = read_json(base64.b64decode(token, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, CosmosError) as error:
        raise _invalid() from error
    match fields:
        case {"q": str(text), "k": [int(rank), key], "n": int(number), "m": int(matched)} if text == query_id:
            return Position((rank, _sort_value(key)), number, matched)
        case _:
            raise _invalid()


def _sort_value(value: Json) -> bool | int | float | str:
    if isinstance(value, bool | int | float | str):
        return value
    raise _invalid()


def _invalid() -> CosmosError:
    return bad_request("The continuation token was not made for this query.")
