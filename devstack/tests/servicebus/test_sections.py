"""Messages as raw sections: cut, spliced, and put together again."""

import pytest

from devstack.servicebus.amqp.encode import encode
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.sections import Sections, merged_map
from devstack.servicebus.amqp.types import Decimal, DecodeError, Described, Float, Symbol, UInt, ULong, Value

DATA = "00 53 75 a0 01 78"


def section(code: int, value: Value) -> bytes:
    return encode(Described(ULong(code), value))


def whole_message() -> bytes:
    return b"".join(
        (
            section(0x70, [True, None, UInt(1000)]),
            section(0x71, {Symbol("x-opt-hop"): 1}),
            section(0x72, {Symbol("x-opt-partition-key"): "p"}),
            section(0x73, ["id", b"user", None, "subject", None, None, None, None, None, None, "session"]),
            section(0x74, {"price": Decimal(0x74, b"1234"), "ratio": Float(0.5)}),
            bytes.fromhex(DATA),
            section(0x78, {Symbol("sum"): 7}),
        )
    )


def test_cutting_and_joining_changes_nothing() -> None:
    octets = whole_message()
    assert Sections.parse(octets).encode() == octets


def test_every_part_is_decoded() -> None:
    message = Message.parse(whole_message())
    assert message.header.durable is True
    assert message.header.ttl == 1000
    assert message.delivery_annotations == {"x-opt-hop": 1}
    assert message.message_annotations == {"x-opt-partition-key": "p"}
    assert (message.properties.message_id, message.properties.subject) == ("id", "subject")
    assert message.properties.group_id == message.sections.group_id == "session"
    assert message.application_properties == {"price": Decimal(0x74, b"1234"), "ratio": 0.5}
    assert message.body_sections == (Described(0x75, b"x"), Described(0x78, {"sum": 7}))


def test_descriptors_may_be_long_ones() -> None:
    assert Sections.parse(bytes.fromhex("00 80 0000000000000075 a0 01 78")).body[-1:] == b"x"


def test_delivery_count_leaves_the_header_as_it_was() -> None:
    sections = Sections.parse(whole_message()).with_delivery_count(4)
    # durable true, priority null, ttl 1000, first-acquirer null, delivery-count 4
    assert sections.header == bytes.fromhex("c0 0b 05 41 40 70 000003e8 40 52 04")
    bare = Sections.parse(bytes.fromhex(DATA)).with_delivery_count(0)
    assert bare.header == bytes.fromhex("c0 06 05 40 40 40 40 43")


def test_message_id_is_put_in_where_there_is_none() -> None:
    bare = Sections.parse(bytes.fromhex(DATA)).with_message_id("x")
    assert bare.properties == bytes.fromhex("c0 04 01 a1 01 78")
    nameless = Sections(properties=encode([None, None, "to"]), body=bytes.fromhex(DATA)).with_message_id("x")
    assert nameless.properties == encode(["x", None, "to"])


def test_added_properties_replace_and_append_and_keep_the_rest_raw() -> None:
    sections = Sections.parse(whole_message()).with_application_properties({"ratio": "new", "more": UInt(1)})
    decoded = Message(sections).application_properties
    assert decoded == {"price": Decimal(0x74, b"1234"), "ratio": "new", "more": 1}
    assert list(decoded) == ["price", "ratio", "more"]


def test_maps_grow_past_their_short_form() -> None:
    pairs = {encode(f"key{number}"): encode(number) for number in range(200)}
    assert merged_map(encode({"a": 1}), pairs) == encode({"a": 1, **{f"key{number}": number for number in range(200)}})


@pytest.mark.parametrize(
    "octets",
    [
        "",
        "00 53 70 45",  # no body
        "00 53 78 c1 01 00",  # a footer alone
        "00 53 70 45 00 53 70 45" + DATA,  # two headers
        "00 53 73 45 00 53 70 45" + DATA,  # out of order
        "00 53 99 45" + DATA,  # unknown
        "00 53 77 40 00 53 77 40",  # two values
        DATA + "00 53 77 40",  # kinds mixed
        DATA[:-3],  # cut short
        "43",  # no section at all
    ],
)
def test_what_is_no_message_is_refused(octets: str) -> None:
    with pytest.raises(DecodeError):
        Sections.parse(bytes.fromhex(octets))
