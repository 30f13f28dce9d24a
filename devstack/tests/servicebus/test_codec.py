"""The codec against octets worked out by hand from the standard, and against itself."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.servicebus.amqp.decode import decode, skip
from devstack.servicebus.amqp.encode import encode
from devstack.servicebus.amqp.types import (
    Array,
    Byte,
    Char,
    Decimal,
    DecodeError,
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

# Each is the shortest encoding by part 1, section 1.6, or an example of sections 1.1 and 1.2.
VECTORS: list[tuple[Value, str]] = [
    (None, "40"),
    (True, "41"),
    (False, "42"),
    (UByte(255), "50 ff"),
    (UShort(258), "60 0102"),
    (UInt(0), "43"),
    (UInt(255), "52 ff"),
    (UInt(256), "70 00000100"),
    (ULong(0), "44"),
    (ULong(0x70), "53 70"),
    (ULong(2**64 - 1), "80 ffffffffffffffff"),
    (Byte(-1), "51 ff"),
    (Short(-2), "61 fffe"),
    (Int(-128), "54 80"),
    (Int(128), "71 00000080"),
    (127, "55 7f"),
    (-129, "81 ffffffffffffff7f"),
    (Float(1.5), "72 3fc00000"),
    (1.5, "82 3ff8000000000000"),
    (Decimal(0x74, bytes.fromhex("22500001")), "74 22500001"),
    (Char("é"), "73 000000e9"),
    (Timestamp(1000), "83 00000000000003e8"),
    (UUID("11223344-5566-7788-99aa-bbccddeeff00"), "98 112233445566778899aabbccddeeff00"),
    (b"\x00\x01", "a0 02 0001"),
    ("Hello Glorious Messaging World", "a1 1e" + b"Hello Glorious Messaging World".hex()),
    (Symbol("amqp:accepted:list"), "a3 12" + b"amqp:accepted:list".hex()),
    ([], "45"),
    ([UInt(0), None], "c0 03 02 43 40"),
    ({"k": True}, "c1 05 02 a1016b 41"),
    (Array(0x98, (UUID(int=1),)), "e0 12 01 98 00000000000000000000000000000001"),
    (
        Described("URL", "http://example.org/hello-world"),
        "00 a1 03" + b"URL".hex() + "a1 1e" + b"http://example.org/hello-world".hex(),
    ),
    (
        Described(
            Symbol("example:book:list"),
            ["AMQP for & by Dummies", Array(0xA1, ("Rob J. Godfrey", "Rafael H. Schloming")), None],
        ),
        "00 a3 11" + b"example:book:list".hex() + "c0 40 03"
        "a1 15" + b"AMQP for & by Dummies".hex() + "e0 25 02 a1"
        "0e" + b"Rob J. Godfrey".hex() + "13" + b"Rafael H. Schloming".hex() + "40",
    ),
]


@pytest.mark.parametrize(("value", "octets"), VECTORS, ids=[octets[:12] for _, octets in VECTORS])
def test_octets_by_hand(value: Value, octets: str) -> None:
    encoded = bytes.fromhex(octets)
    assert encode(value) == encoded
    decoded, end = decode(encoded)
    assert decoded == value
    assert type(decoded) is type(value)
    assert end == skip(encoded, 0) == len(encoded)


@pytest.mark.parametrize(
    ("octets", "value"),
    [
        ("56 01", True),
        ("56 00", False),
        ("70 00000007", UInt(7)),
        ("80 0000000000000007", ULong(7)),
        ("71 fffffff9", Int(-7)),
        ("81 0000000000000007", 7),
        ("b0 00000001 61", b"a"),
        ("b1 00000001 61", "a"),
        ("b3 00000001 61", Symbol("a")),
        ("d0 00000005 00000001 41", [True]),
        ("d1 00000008 00000002 a10161 41", {"a": True}),
        ("f0 00000007 00000002 56 01 00", Array(0x56, (True, False))),
        ("e0 02 03 41", Array(0x41, (True, True, True))),
    ],
)
def test_longer_encodings_are_read_as_well(octets: str, value: Value) -> None:
    encoded = bytes.fromhex(octets)
    decoded, end = decode(encoded)
    assert decoded == value
    assert type(decoded) is type(value)
    assert end == len(encoded)


def leaves() -> st.SearchStrategy[Value]:
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.text(),
        st.binary(max_size=300),
        st.uuids(),
        st.integers(0, 255).map(UByte),
        st.integers(0, 2**16 - 1).map(UShort),
        st.integers(0, 2**32 - 1).map(UInt),
        st.integers(0, 2**64 - 1).map(ULong),
        st.integers(-(2**7), 2**7 - 1).map(Byte),
        st.integers(-(2**15), 2**15 - 1).map(Short),
        st.integers(-(2**31), 2**31 - 1).map(Int),
        st.integers(-(2**63), 2**63 - 1).map(Timestamp),
        st.floats(width=32, allow_nan=False).map(Float),
        st.characters(exclude_categories=["Cs"]).map(Char),
        st.text(st.characters(codec="ascii"), max_size=300).map(Symbol),
        st.lists(st.uuids(), max_size=20).map(lambda items: Array(0x98, tuple(items))),
        st.lists(st.text(max_size=20), max_size=20).map(lambda items: Array(0xB1, tuple(items))),
    )


def values() -> st.SearchStrategy[Value]:
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.lists(inner, max_size=8),
            st.dictionaries(st.text(max_size=10), inner, max_size=8),
            st.builds(Described, st.integers(0, 2**64 - 1).map(ULong), inner),
        ),
        max_leaves=12,
    )


def types_of(value: Value) -> object:
    """The value's shape with every type in it: equality alone cannot tell a uint from a long."""
    match value:
        case list():
            return [types_of(item) for item in value]
        case dict():
            return {key: types_of(item) for key, item in value.items()}
        case Described(descriptor, inner):
            return (Described, types_of(descriptor), types_of(inner))
        case _:
            return type(value)


@given(values())
def test_what_is_encoded_decodes_to_the_same_types(value: Value) -> None:
    encoded = encode(value)
    decoded, end = decode(encoded)
    assert decoded == value
    assert types_of(decoded) == types_of(value)
    assert end == skip(encoded, 0) == len(encoded)


@given(values(), st.data())
def test_cut_short_is_an_error_and_nothing_else(value: Value, data: st.DataObject) -> None:
    encoded = encode(value)
    cut = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(DecodeError):
        decode(encoded[:cut])


@given(st.binary(max_size=64))
def test_any_octets_decode_or_are_refused(octets: bytes) -> None:
    try:
        _, end = decode(octets)
    except DecodeError:
        return
    assert 0 < end <= len(octets)


@pytest.mark.parametrize(
    "octets",
    [
        "99",  # no such constructor
        "f0 00000005 ffffffff 41",  # four billion values of no width
        "d0 00000004 ffffffff",  # a list that counts what is not there
        "c1 03 01 a10161",  # a key without value
        "c0 04 01 43 43 43",  # more elements than counted
        "a1 01 ff",  # no UTF-8
        "e0 02 01 99",  # an array of nothing known
    ],
)
def test_hostile_octets_are_refused(octets: str) -> None:
    with pytest.raises(DecodeError):
        decode(bytes.fromhex(octets))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(DecodeError):
        decode(b"\x00" * 200_000)
    nested: Value = None
    for _ in range(50_000):
        nested = [nested]
    with pytest.raises(EncodeError):
        encode(nested)


@pytest.mark.parametrize("value", [UInt(2**32), UInt(-1), UByte(256), 2**63, Symbol("é"), object()])
def test_values_without_amqp_form_are_refused(value: Value) -> None:
    with pytest.raises(EncodeError):
        encode(value)
