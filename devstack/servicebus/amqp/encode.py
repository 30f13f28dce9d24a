"""Values to octets, always in the shortest form that the standard has.

Source: OASIS AMQP 1.0 part 1, sections 1.2 (encodings) and 1.6 (constructors).
"""

import struct
from collections.abc import Callable, Mapping
from typing import cast
from uuid import UUID

from devstack.servicebus.amqp.types import (
    Array,
    Byte,
    Char,
    Decimal,
    Described,
    EncodeError,
    Float,
    Int,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
    Value,
)

_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")
NULL = b"\x40"


def encode(value: Value) -> bytes:
    """Encode one value.

    Raises:
        EncodeError: the value has no AMQP form, or is out of its type's range.
    """
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise EncodeError(f"{type(value).__name__} has no AMQP type")
    try:
        return writer(value)
    except (struct.error, UnicodeEncodeError, RecursionError) as error:
        raise EncodeError(f"{type(value).__name__}: out of range or nested too deep") from error


def boolean(value: bool) -> bytes:
    """Encode a boolean."""
    return b"\x41" if value else b"\x42"


def ubyte(value: int) -> bytes:
    """Encode an unsigned 8-bit integer."""
    return struct.pack(">BB", 0x50, value)


def uint(value: int) -> bytes:
    """Encode an unsigned 32-bit integer."""
    if value == 0:
        return b"\x43"
    return b"\x52" + value.to_bytes() if 0 < value < 256 else b"\x70" + _U32.pack(value)


def ulong(value: int) -> bytes:
    """Encode an unsigned 64-bit integer."""
    if value == 0:
        return b"\x44"
    return b"\x53" + value.to_bytes() if 0 < value < 256 else b"\x80" + _U64.pack(value)


def symbol(value: str) -> bytes:
    """Encode a symbol."""
    return _sized(0xA3, value.encode("ascii"))


def string(value: str) -> bytes:
    """Encode a string."""
    return _sized(0xA1, value.encode("utf-8"))


def binary(value: bytes) -> bytes:
    """Encode octets."""
    return _sized(0xA0, value)


def timestamp(value: int) -> bytes:
    """Encode milliseconds since 1970-01-01 UTC."""
    return struct.pack(">Bq", 0x83, value)


def list_of(encoded: list[bytes]) -> bytes:
    """Encode a list whose elements are encoded already."""
    return compound(0xC0, len(encoded), b"".join(encoded)) if encoded else b"\x45"


def compound(short_code: int, count: int, encoded: bytes) -> bytes:
    """Encode a list (0xc0) or map (0xc1) of `count` elements that are encoded already."""
    if len(encoded) < 255 and count < 256:
        return bytes((short_code, len(encoded) + 1, count)) + encoded
    return struct.pack(">BII", short_code + 0x10, len(encoded) + 4, count) + encoded


def timestamp_array(values: tuple[int, ...]) -> Array:
    """Return an array of timestamps."""
    return Array(0x83, tuple(Timestamp(value) for value in values))


def _sized(short_code: int, octets: bytes) -> bytes:
    if len(octets) < 256:
        return bytes((short_code, len(octets))) + octets
    return struct.pack(">BI", short_code + 0x10, len(octets)) + octets


def _int(value: int) -> bytes:
    return struct.pack(">Bb", 0x54, value) if -128 <= value < 128 else struct.pack(">Bi", 0x71, value)


def _long(value: int) -> bytes:
    return struct.pack(">Bb", 0x55, value) if -128 <= value < 128 else struct.pack(">Bq", 0x81, value)


def _packed(code: int, layout: str) -> Callable[..., bytes]:
    packer = struct.Struct(">B" + layout)
    return lambda value: packer.pack(code, value)


def _map(value: Mapping[Value, Value]) -> bytes:
    encoded = b"".join(encode(key) + encode(item) for key, item in value.items())
    return compound(0xC1, 2 * len(value), encoded)


def _described(value: Described) -> bytes:
    return b"\x00" + encode(value.descriptor) + encode(value.value)


def _array(value: Array) -> bytes:
    element = _ARRAY_ELEMENTS.get(value.code)
    if element is None:
        raise EncodeError(f"no array of constructor 0x{value.code:02x}")
    encoded = bytes((value.code,)) + b"".join(element(item) for item in value.items)
    if len(encoded) < 255 and len(value.items) < 256:
        return bytes((0xE0, len(encoded) + 1, len(value.items))) + encoded
    return struct.pack(">BII", 0xF0, len(encoded) + 4, len(value.items)) + encoded


def _element(layout: str) -> Callable[..., bytes]:
    packer = struct.Struct(">" + layout)
    return packer.pack


def _sized_element(width: int, convert: Callable[..., bytes]) -> Callable[..., bytes]:
    def write(item: Value) -> bytes:
        octets = convert(item)
        return len(octets).to_bytes(width) + octets

    return write


# How an element of an array is written: its constructor stands once, before all of them.
_ARRAY_ELEMENTS: dict[int, Callable[..., bytes]] = {
    0x50: _element("B"),
    0x54: _element("b"),
    0x55: _element("b"),
    0x56: _element("?"),
    0x70: _element("I"),
    0x71: _element("i"),
    0x80: _element("Q"),
    0x81: _element("q"),
    0x83: _element("q"),
    0x98: lambda item: cast("UUID", item).bytes,
    0xA0: _sized_element(1, bytes),
    0xB0: _sized_element(4, bytes),
    0xA1: _sized_element(1, lambda item: item.encode("utf-8")),
    0xB1: _sized_element(4, lambda item: item.encode("utf-8")),
    0xA3: _sized_element(1, lambda item: item.encode("ascii")),
    0xB3: _sized_element(4, lambda item: item.encode("ascii")),
}

_WRITERS: dict[type, Callable[..., bytes]] = {
    type(None): lambda _: NULL,
    bool: boolean,
    UByte: ubyte,
    UShort: _packed(0x60, "H"),
    UInt: uint,
    ULong: ulong,
    Byte: _packed(0x51, "b"),
    Short: _packed(0x61, "h"),
    Int: _int,
    int: _long,
    Timestamp: timestamp,
    Float: _packed(0x72, "f"),
    float: _packed(0x82, "d"),
    Char: lambda value: b"\x73" + value.encode("utf-32-be"),
    str: string,
    Symbol: symbol,
    bytes: binary,
    UUID: lambda value: b"\x98" + value.bytes,
    Decimal: lambda value: bytes((value.code,)) + value.octets,
    Described: _described,
    Array: _array,
    list: lambda value: list_of([encode(item) for item in value]),
    dict: _map,
}
