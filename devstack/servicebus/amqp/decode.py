"""Octets to values, by the constructor table of the standard.

No length and no count is trusted: every read is held against the buffer, so hostile input ends in
`DecodeError`, not in memory or recursion.

Source: OASIS AMQP 1.0 part 1, sections 1.2 (encodings) and 1.6 (constructors).
"""

import struct
from collections.abc import Callable
from uuid import UUID

from devstack.servicebus.amqp.types import (
    Array,
    Byte,
    Char,
    Decimal,
    DecodeError,
    Described,
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

type _Reader = Callable[[bytes, int], tuple[Value, int]]

_U32 = struct.Struct(">I")
_U32X2 = struct.Struct(">II")
# Octets before the data, by the high half of the constructor: fixed widths, then the width of the size.
_FIXED_WIDTH = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
_SIZE_WIDTH = {0xA: 1, 0xB: 4, 0xC: 1, 0xD: 4, 0xE: 1, 0xF: 4}


def decode(buffer: bytes, position: int = 0) -> tuple[Value, int]:
    """Decode the value that begins at `position`.

    Returns:
        The value and the position after it.

    Raises:
        DecodeError: the octets are cut short, name an unknown constructor, or nest too deep.
    """
    try:
        return _read(buffer, position)
    except (IndexError, struct.error, UnicodeDecodeError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, DecodeError):
            raise
        raise DecodeError(f"no valid AMQP value at octet {position}: {type(error).__name__}") from error


def skip(buffer: bytes, position: int) -> int:
    """Return the position after the value at `position`, without decoding it.

    Raises:
        DecodeError: the value is cut short.
    """
    try:
        code = buffer[position]
        position += 1
        if code == 0x00:
            position = skip(buffer, position)
            return skip(buffer, position)
        kind = code >> 4
        if (width := _FIXED_WIDTH.get(kind)) is not None:
            position += width
        elif _SIZE_WIDTH.get(kind) == 1:
            position += 1 + buffer[position]
        elif kind in _SIZE_WIDTH:
            position += 4 + _U32.unpack_from(buffer, position)[0]
        else:
            raise DecodeError(f"unknown constructor 0x{code:02x}")
    except (IndexError, struct.error, RecursionError) as error:
        raise DecodeError("an AMQP value is cut short") from error
    if position > len(buffer):
        raise DecodeError("an AMQP value is cut short")
    return position


def elements(buffer: bytes, position: int) -> tuple[int, int, int]:
    """Read the head of the list or map at `position`, so that its elements can be spliced raw.

    Returns:
        The number of elements, the position of the first one, and the position after the last one.

    Raises:
        DecodeError: there is no list or map, or it is cut short.
    """
    end = skip(buffer, position)
    match buffer[position]:
        case 0x45:
            return 0, end, end
        case 0xC0 | 0xC1:
            head = (buffer[position + 2], position + 3, end)
        case 0xD0 | 0xD1:
            head = (_U32.unpack_from(buffer, position + 5)[0], position + 9, end)
        case code:
            raise DecodeError(f"constructor 0x{code:02x} is no list or map")
    if head[1] > end:
        raise DecodeError("a list or map is cut short")
    return head


def _read(buffer: bytes, position: int) -> tuple[Value, int]:
    reader = _READERS[buffer[position]]
    if reader is None:
        raise DecodeError(f"unknown constructor 0x{buffer[position]:02x}")
    return reader(buffer, position + 1)


def _constant(value: Value) -> _Reader:
    return lambda _buffer, position: (value, position)


def _number(layout: str, kind: Callable[..., Value] | None = None) -> _Reader:
    packed = struct.Struct(layout)
    width = packed.size
    unpack = packed.unpack_from

    if kind is None:
        return lambda buffer, position: (unpack(buffer, position)[0], position + width)
    return lambda buffer, position: (kind(unpack(buffer, position)[0]), position + width)


def _octets(width: int, convert: Callable[[bytes], Value]) -> _Reader:
    """Read a value of a fixed number of octets."""

    def read(buffer: bytes, position: int) -> tuple[Value, int]:
        end = position + width
        if end > len(buffer):
            raise DecodeError("a fixed-width value is cut short")
        return convert(buffer[position:end]), end

    return read


def _sized(size_width: int, convert: Callable[[bytes], Value]) -> _Reader:
    """Read a value whose size stands before it."""

    def read(buffer: bytes, position: int) -> tuple[Value, int]:
        size = buffer[position] if size_width == 1 else _U32.unpack_from(buffer, position)[0]
        start = position + size_width
        end = start + size
        if end > len(buffer):
            raise DecodeError("a variable-width value is cut short")
        return convert(buffer[start:end]), end

    return read


def _compound_head(buffer: bytes, position: int, width: int) -> tuple[int, int, int]:
    """Return count, position of the first element, and end."""
    if width == 1:
        size, count = buffer[position], buffer[position + 1]
    else:
        size, count = _U32X2.unpack_from(buffer, position)
    end = position + width + size
    if end > len(buffer) or size < width:
        raise DecodeError("a compound value is cut short")
    return count, position + 2 * width, end


def _read_items(buffer: bytes, count: int, position: int, end: int) -> list[Value]:
    items: list[Value] = []
    for _ in range(count):
        value, position = _read(buffer, position)
        items.append(value)
    if position != end:
        raise DecodeError("a compound value's size and its elements differ")
    return items


def _list(width: int) -> _Reader:
    def read(buffer: bytes, position: int) -> tuple[Value, int]:
        count, position, end = _compound_head(buffer, position, width)
        return _read_items(buffer, count, position, end), end

    return read


def _map(width: int) -> _Reader:
    def read(buffer: bytes, position: int) -> tuple[Value, int]:
        count, position, end = _compound_head(buffer, position, width)
        if count % 2:
            raise DecodeError("a map has a key without a value")
        items = _read_items(buffer, count, position, end)
        return dict(zip(items[::2], items[1::2], strict=True)), end

    return read


def _array(width: int) -> _Reader:
    def read(buffer: bytes, position: int) -> tuple[Value, int]:
        count, position, end = _compound_head(buffer, position, width)
        if count > len(buffer):
            # Elements may be zero octets wide, so the count alone could ask for any amount of memory.
            raise DecodeError("an array counts more elements than its frame has octets")
        code = buffer[position]
        reader = _READERS[code]
        if reader is None or code == 0x00:
            raise DecodeError(f"unsupported array constructor 0x{code:02x}")
        position += 1
        items: list[Value] = []
        for _ in range(count):
            value, position = reader(buffer, position)
            items.append(value)
        if position != end:
            raise DecodeError("an array's size and its elements differ")
        return Array(code, tuple(items)), end

    return read


def _described(buffer: bytes, position: int) -> tuple[Value, int]:
    descriptor, position = _read(buffer, position)
    value, position = _read(buffer, position)
    return Described(descriptor, value), position


def _reader_table() -> list[_Reader | None]:
    table: dict[int, _Reader] = {
        0x00: _described,
        0x40: _constant(None),
        0x41: _constant(True),
        0x42: _constant(False),
        0x43: _constant(UInt(0)),
        0x44: _constant(ULong(0)),
        0x45: lambda _buffer, position: ([], position),
        0x50: _number(">B", UByte),
        0x51: _number(">b", Byte),
        0x52: _number(">B", UInt),
        0x53: _number(">B", ULong),
        0x54: _number(">b", Int),
        0x55: _number(">b"),
        0x56: _number(">?"),
        0x60: _number(">H", UShort),
        0x61: _number(">h", Short),
        0x70: _number(">I", UInt),
        0x71: _number(">i", Int),
        0x72: _number(">f", Float),
        0x73: _octets(4, lambda octets: Char(octets.decode("utf-32-be"))),
        0x74: _octets(4, lambda octets: Decimal(0x74, octets)),
        0x80: _number(">Q", ULong),
        0x81: _number(">q"),
        0x82: _number(">d"),
        0x83: _number(">q", Timestamp),
        0x84: _octets(8, lambda octets: Decimal(0x84, octets)),
        0x94: _octets(16, lambda octets: Decimal(0x94, octets)),
        0x98: _octets(16, lambda octets: UUID(bytes=octets)),
        0xC0: _list(1),
        0xD0: _list(4),
        0xC1: _map(1),
        0xD1: _map(4),
        0xE0: _array(1),
        0xF0: _array(4),
    }
    for short, convert in {
        0xA0: bytes,
        0xA1: lambda octets: octets.decode("utf-8"),
        0xA3: lambda octets: Symbol(octets.decode("ascii")),
    }.items():
        table[short] = _sized(1, convert)
        table[short + 0x10] = _sized(4, convert)
    return [table.get(code) for code in range(256)]


_READERS = _reader_table()
