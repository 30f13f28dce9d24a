"""Field types of messages: registration takes what the request hash can spell, and names what it cannot."""

import datetime
import enum
import uuid
from decimal import Decimal
from typing import Any, Literal

import msgspec
import pytest

from ordering.orders.operations import OrderPlaced
from shared.idempotency.errors import ConfigurationError
from shared.idempotency.hashable_fields import check_hashable
from shared.idempotency.messages import Identifier, Instant, Message, Money


class Colour(enum.StrEnum):
    RED = "red"


class Plain(enum.Enum):
    ONE = 1


class Branch(msgspec.Struct):
    below: "tuple[Branch, ...]" = ()
    sizes: dict[str, list[float | None]] = {}


def message(field_type: object) -> type[Message]:
    made = msgspec.defstruct("Painted", [("field", field_type)], bases=(Message,), frozen=True, kw_only=True)
    assert issubclass(made, Message)
    return made


@pytest.mark.parametrize(
    "field_type",
    [
        str, int, float, bool, None, Any, Decimal, Money, Identifier, Instant, Colour, Branch, Literal["a", 1],
        Instant | None, list[Branch], tuple[str, int], tuple[Money, ...], dict[str, Branch | None],
    ],
)  # fmt: skip
def test_what_has_one_spelling_is_taken(field_type: object) -> None:
    check_hashable(message(field_type))


def test_orders_are_taken() -> None:
    check_hashable(OrderPlaced)


@pytest.mark.parametrize(
    ("field_type", "named"),
    [
        (bytes, "bytes"),
        (datetime.date, "date"),
        (datetime.timedelta, "timedelta"),
        (uuid.UUID, "uuid"),
        (set[str], "set"),
        (frozenset[str], "frozenset"),
        (Plain, "Plain"),
        (list[bytes], "bytes"),
        (dict[str, datetime.date], "date"),
        (Branch | tuple[uuid.UUID, ...], "uuid"),
    ],
)
def test_what_has_none_is_named(field_type: object, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_hashable(message(field_type))
    assert str(caught.value).startswith(f"Painted.field: the request hash has no spelling for {named}; use str, int")


def test_a_field_below_is_named_by_its_own_class() -> None:
    class Leaf(msgspec.Struct):
        picture: bytes

    with pytest.raises(ConfigurationError, match=r"^Leaf\.picture: the request hash has no spelling for bytes"):
        check_hashable(message(list[Leaf]))
