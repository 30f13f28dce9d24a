"""AMQP 1.0 types as Python values, without loss: what was decoded encodes to the same type again.

Python's own types stand for the type that needs no mark: `None` null, `bool` boolean, `int` long, `float`
double, `str` string, `bytes` binary, `UUID` uuid, `list` list, `dict` map. All others are classes that
carry the mark.

Source: OASIS AMQP 1.0 part 1 (types), section 1.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID


class UByte(int):
    """Unsigned 8-bit integer."""

    __slots__ = ()


class UShort(int):
    """Unsigned 16-bit integer."""

    __slots__ = ()


class UInt(int):
    """Unsigned 32-bit integer."""

    __slots__ = ()


class ULong(int):
    """Unsigned 64-bit integer."""

    __slots__ = ()


class Byte(int):
    """Signed 8-bit integer."""

    __slots__ = ()


class Short(int):
    """Signed 16-bit integer."""

    __slots__ = ()


class Int(int):
    """Signed 32-bit integer."""

    __slots__ = ()


class Timestamp(int):
    """Milliseconds since 1970-01-01 UTC."""

    __slots__ = ()


class Float(float):
    """32-bit IEEE 754 number."""

    __slots__ = ()


class Char(str):
    """One Unicode character."""

    __slots__ = ()


class Symbol(str):
    """ASCII name out of a constrained domain."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Decimal:
    """A decimal32, decimal64 or decimal128, kept as its octets: this project never computes with one."""

    code: int
    octets: bytes


@dataclass(frozen=True, slots=True)
class Array:
    """Values of one type. `code` is the constructor that every element shares, such as 0x98 for uuid."""

    code: int
    items: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Described:
    """A value with a descriptor that says what it means."""

    descriptor: "Value"
    value: "Value"


type Value = (
    bool
    | int
    | float
    | str
    | bytes
    | UUID
    | Decimal
    | Array
    | Described
    | Sequence[Value]
    | Mapping[Value, Value]
    | None
)


class DecodeError(ValueError):
    """The octets are not valid AMQP 1.0. The peer is at fault: close with `amqp:decode-error`."""


class EncodeError(ValueError):
    """The value has no AMQP 1.0 form, such as a uint of 2**32. The caller is at fault."""
