"""The content that a worker decodes, octet by octet and through the SDK."""

from uuid import UUID

import pytest
from azure.servicebus import ServiceBusReceivedMessage

from devstack.functions.binding_data import received_message_data
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.client import Delivery

LOCK_TOKEN = UUID("00112233-4455-6677-8899-aabbccddeeff")
# Header: durable true, all else null, delivery-count 2 on the wire.
HEADER = b"\x00\x53\x70\xc0\x07\x05\x41\x40\x40\x40\x52\x02"
# Message annotations: x-opt-sequence-number = long 7, x-opt-locked-until = timestamp 1000 ms.
MESSAGE_ANNOTATIONS = (
    b"\x00\x53\x72\xc1\x37\x04"
    b"\xa3\x15x-opt-sequence-number\x55\x07"
    b"\xa3\x12x-opt-locked-until\x83\x00\x00\x00\x00\x00\x00\x03\xe8"
)
# Properties: message-id "m1"; group-id "s1" is the eleventh field.
PROPERTIES = b"\x00\x53\x73\xc0\x12\x0b\xa1\x02m1" + b"\x40" * 9 + b"\xa1\x02s1"
APPLICATION_PROPERTIES = b"\x00\x53\x74\xc1\x06\x02\xa1\x01k\x54\x05"
BODY = b"\x00\x53\x75\xa0\x02hi"
UNTOUCHED = MESSAGE_ANNOTATIONS + PROPERTIES + APPLICATION_PROPERTIES + BODY


def content(sections: bytes) -> bytes:
    return received_message_data(Delivery(LOCK_TOKEN, Message.parse(sections))).content


def test_names() -> None:
    data = received_message_data(Delivery(LOCK_TOKEN, Message.parse(HEADER + BODY)))
    assert data.version == "1.0"
    assert data.source == "AzureServiceBusReceivedMessage"
    assert data.content_type == "application/octet-stream"


def test_sections_in_order_with_the_senders_octets_untouched() -> None:
    made = content(HEADER + UNTOUCHED)
    assert made[:16] == bytes.fromhex("33221100554477668899aabbccddeeff")
    assert made[16:19] == b"\x00\x53\x70"
    delivery_annotations = made.index(b"\x00\x53\x71")
    assert made[delivery_annotations : -len(UNTOUCHED)].endswith(b"x-opt-lock-token\x98" + LOCK_TOKEN.bytes)
    assert made.endswith(UNTOUCHED)


def test_the_sdk_reads_it() -> None:
    received = ServiceBusReceivedMessage.from_bytes(content(HEADER + UNTOUCHED)[16:])
    assert received.lock_token == LOCK_TOKEN
    assert received.delivery_count == 3
    assert (received.message_id, received.session_id, received.sequence_number) == ("m1", "s1", 7)
    assert received.locked_until_utc is not None
    assert received.locked_until_utc.timestamp() == 1.0
    assert received.application_properties == {b"k": 5}
    assert b"".join(received.body) == b"hi"


@pytest.mark.parametrize("header", [b"", b"\x00\x53\x70\x45"])
def test_an_absent_or_empty_header_is_a_first_delivery(header: bytes) -> None:
    assert ServiceBusReceivedMessage.from_bytes(content(header + UNTOUCHED)[16:]).delivery_count == 1
