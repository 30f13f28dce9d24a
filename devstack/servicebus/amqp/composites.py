"""Wire layout of the composite types: descriptor and field types, and their encoding and decoding.

Every field is always written, trailing nulls too: azure-servicebus before 7.15 indexes the fields it expects,
and fails on a list that ends early. An error thereby always has its three fields: with two, that SDK's send
call never returns. On reading, a list may end early, as the standard allows.

Source: OASIS AMQP 1.0 part 1 section 1.4 (composites); SDK azure-servicebus 7.14.3 and 7.15.0, `_pyamqp`.
"""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from operator import attrgetter
from typing import Final, cast

from devstack.servicebus.amqp import encode, performatives
from devstack.servicebus.amqp.decode import decode
from devstack.servicebus.amqp.performatives import Composite
from devstack.servicebus.amqp.types import (
    Array,
    DecodeError,
    Described,
    EncodeError,
    Symbol,
    UByte,
    UInt,
    ULong,
    UShort,
    Value,
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one field is written, and which Python types it may have when read."""

    write: Callable[..., bytes]
    accepts: tuple[type, ...]
    composites: tuple[type, ...] = ()


_BOOLEAN: Final = _Kind(encode.boolean, (bool,))
_UBYTE: Final = _Kind(encode.ubyte, (UByte,))
_USHORT: Final = _Kind(lambda value: encode.encode(UShort(value)), (UShort,))
_UINT: Final = _Kind(encode.uint, (UInt,))
_ULONG: Final = _Kind(encode.ulong, (ULong,))
_STRING: Final = _Kind(encode.string, (str,))
_SYMBOL: Final = _Kind(encode.symbol, (str,))
_BINARY: Final = _Kind(encode.binary, (bytes,))
_SYMBOLS: Final = _Kind(encode.encode, (Array, Symbol))
_MAP: Final = _Kind(encode.encode, (dict,))
_ANY: Final = _Kind(encode.encode, (object,))


def _composite(*types: type) -> _Kind:
    return _Kind(lambda value: encode_composite(value), (Described,), types)


_ERROR: Final = _composite(performatives.Error)
_SOURCE: Final = _composite(performatives.Source, Described)
_TARGET: Final = _composite(performatives.Target, Described)
_STATE: Final = _composite(
    performatives.Accepted,
    performatives.Rejected,
    performatives.Released,
    performatives.Modified,
    performatives.Received,
    Described,
)
_TERMINUS = (_ANY, _UINT, _SYMBOL, _UINT, _BOOLEAN, _MAP)
_CAPABILITIES = (_SYMBOLS, _SYMBOLS, _MAP)
_LAYOUTS: Final[dict[type, tuple[int, tuple[_Kind, ...]]]] = {
    performatives.Open: (
        0x10,
        (_STRING, _STRING, _UINT, _USHORT, _UINT, _SYMBOLS, _SYMBOLS, *_CAPABILITIES),
    ),
    performatives.Begin: (0x11, (_USHORT, _UINT, _UINT, _UINT, _UINT, *_CAPABILITIES)),
    performatives.Attach: (
        0x12,
        (
            *(_STRING, _UINT, _BOOLEAN, _UBYTE, _UBYTE, _SOURCE, _TARGET, _MAP, _BOOLEAN, _UINT, _ULONG),
            *_CAPABILITIES,
        ),
    ),
    performatives.Flow: (
        0x13,
        (_UINT, _UINT, _UINT, _UINT, _UINT, _UINT, _UINT, _UINT, _BOOLEAN, _BOOLEAN, _MAP),
    ),
    performatives.Transfer: (
        0x14,
        (_UINT, _UINT, _BINARY, _UINT, _BOOLEAN, _BOOLEAN, _UBYTE, _STATE, _BOOLEAN, _BOOLEAN, _BOOLEAN),
    ),
    performatives.Disposition: (0x15, (_BOOLEAN, _UINT, _UINT, _BOOLEAN, _STATE, _BOOLEAN)),
    performatives.Detach: (0x16, (_UINT, _BOOLEAN, _ERROR)),
    performatives.End: (0x17, (_ERROR,)),
    performatives.Close: (0x18, (_ERROR,)),
    performatives.Error: (0x1D, (_SYMBOL, _STRING, _MAP)),
    performatives.Received: (0x23, (_UINT, _ULONG)),
    performatives.Accepted: (0x24, ()),
    performatives.Rejected: (0x25, (_ERROR,)),
    performatives.Released: (0x26, ()),
    performatives.Modified: (0x27, (_BOOLEAN, _BOOLEAN, _MAP)),
    performatives.Source: (0x28, (*_TERMINUS, _SYMBOL, _MAP, _STATE, _SYMBOLS, _SYMBOLS)),
    performatives.Target: (0x29, (*_TERMINUS, _SYMBOLS)),
    performatives.SaslMechanisms: (0x40, (_SYMBOLS,)),
    performatives.SaslInit: (0x41, (_SYMBOL, _BINARY, _STRING)),
    performatives.SaslOutcome: (0x44, (_UBYTE, _BINARY)),
}


@dataclass(frozen=True, slots=True)
class _Layout:
    """What both directions need of one composite type, worked out once."""

    make: Callable[..., Composite]
    name: str
    prefix: bytes
    kinds: tuple[_Kind, ...]
    names: tuple[str, ...]
    required: int
    read: Callable[[object], tuple[object, ...]]


def _layout(kind: type, code: int, kinds: tuple[_Kind, ...]) -> _Layout:
    declared = fields(kind)
    names = tuple(each.name for each in declared)
    # The fields without default are the mandatory ones, and they stand first.
    required = sum(each.default is MISSING for each in declared)
    return _Layout(
        make=kind,
        name=kind.__name__.lower(),
        prefix=b"\x00" + encode.ulong(code),
        kinds=kinds,
        names=names,
        required=required,
        read=_reader(names),
    )


def _reader(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    match names:
        case ():
            return lambda _: ()
        case (only,):
            return lambda composite: (getattr(composite, only),)
        case _:
            return cast("Callable[[object], tuple[object, ...]]", attrgetter(*names))


# No default, and yet null at times: on the first begin, and before the peer's begin came.
_NULLABLE: Final = {"remote_channel", "next_incoming_id"}
_BY_TYPE: Final = {kind: _layout(kind, code, kinds) for kind, (code, kinds) in _LAYOUTS.items()}
_BY_CODE: Final = {code: _BY_TYPE[kind] for kind, (code, _) in _LAYOUTS.items()}


def encode_composite(composite: Composite) -> bytes:
    """Encode a composite with all its fields; a described value of another type is written as it is.

    Raises:
        EncodeError: a field is out of its type's range.
    """
    layout = _BY_TYPE.get(type(composite))
    if layout is None:
        return encode.encode(cast("Described", composite))
    try:
        encoded = [
            encode.NULL if value is None else kind.write(value)
            for kind, value in zip(layout.kinds, layout.read(composite), strict=True)
        ]
    except (ValueError, OverflowError) as error:
        raise EncodeError(f"{layout.name}: a field is out of range") from error
    return layout.prefix + encode.list_of(encoded)


def decode_composite(buffer: bytes, position: int = 0) -> tuple[Composite, int]:
    """Decode the composite that begins at `position`.

    Returns:
        The composite and the position after it, where a frame's payload begins.

    Raises:
        DecodeError: no composite is there, or a field is missing or of a wrong type; the text names it.
    """
    value, position = decode(buffer, position)
    composite = _typed(value)
    if composite is None:
        raise DecodeError("there is no described value where a performative should be")
    return composite, position


def _typed(value: Value) -> Composite | None:
    """Turn a described list of a known type into its class; leave other described values alone."""
    if not isinstance(value, Described):
        return None
    layout = _BY_CODE.get(value.descriptor) if isinstance(value.descriptor, int) else None
    if layout is None:
        return value
    if not isinstance(value.value, list) or len(value.value) > len(layout.kinds):
        raise DecodeError(f"{layout.name}: no list of at most {len(layout.kinds)} fields")
    return layout.make(*_typed_fields(layout, value.value))


def _typed_fields(layout: _Layout, values: list[Value]) -> Iterable[object]:
    typed: list[object] = []
    for kind, name, value in zip(layout.kinds, layout.names, values, strict=False):
        if value is None:
            typed.append(None)
        elif not isinstance(value, kind.accepts):
            raise DecodeError(f"{layout.name}.{name}: {type(value).__name__} is a wrong type")
        else:
            typed.append(_typed_inside(layout, kind, name, value) if kind.composites else value)
    typed += [None] * (len(layout.kinds) - len(typed))
    for name, present in zip(layout.names[: layout.required], typed, strict=False):
        if present is None and name not in _NULLABLE:
            raise DecodeError(f"{layout.name}.{name}: is required")
    return typed


def _typed_inside(layout: _Layout, kind: _Kind, name: str, value: Value) -> Composite | None:
    composite = _typed(value)
    if not isinstance(composite, kind.composites):
        raise DecodeError(f"{layout.name}.{name}: {type(composite).__name__} is a wrong type")
    return composite
