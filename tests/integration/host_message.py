"""What the Functions host hands over for one Service Bus message, octet by octet.

The content of a `model_binding_data` with version "1.0", source "AzureServiceBusReceivedMessage" and content type
"application/octet-stream": the lock token, then the AMQP message's sections in the standard's order, without gaps.
This is the second delivery of the message: the broker's delivery-count is 1, and the host raises it by one.

Written by hand from the standard's encodings: `00 53 xx` a section's descriptor; `c0` list8 and `c1` map8 (size,
count); `a1` str8, `a3` sym8, `a0` vbin8 (length); `98` uuid, `81` long, `83` timestamp (milliseconds since 1970),
`70` uint, `52` smalluint, `54` smallint, `41` true, `40` null.

Source: OASIS AMQP 1.0 part 1 section 1.6 (encodings) and part 3 section 3.2 (sections); the layout was measured on the
Functions host 4.1037 with Service Bus extension 5.x.
"""

from dataclasses import dataclass
from typing import Final

LOCK_TOKEN: Final = "00112233-4455-6677-8899-aabbccddeeff"  # noqa: S105 - no secret
MESSAGE_ID: Final = "489434~0123456789abcdef"
TRACEPARENT: Final = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
BODY: Final = b'{"orderId":"489434"}'

# 16 octets, a GUID in .NET's layout: its first three groups are little-endian.
TOKEN_OCTETS: Final = bytes.fromhex("33221100 5544 7766 8899 aabbccddeeff")

# As the broker sends it: durable true, priority null, ttl 86,400,000 ms, first-acquirer null, delivery-count 1.
BROKER_HEADER: Final = bytes.fromhex("00 53 70  c0 0b 05  41  40  70 05265c00  40  52 01")
# As the host hands it over: delivery-count 2.
HEADER: Final = bytes.fromhex("00 53 70  c0 0b 05  41  40  70 05265c00  40  52 02")

# x-opt-lock-token: the token again, as AMQP uuid: big-endian. The host puts it there.
DELIVERY_ANNOTATIONS: Final = (
    bytes.fromhex("00 53 71  c1 24 02")
    + bytes.fromhex("a3 10") + b"x-opt-lock-token" + bytes.fromhex("98 00112233445566778899aabbccddeeff")
)  # fmt: skip

MESSAGE_ANNOTATIONS: Final = (
    bytes.fromhex("00 53 72  c1 73 08")
    # 2025-01-01T00:00:00.000Z
    + bytes.fromhex("a3 13") + b"x-opt-enqueued-time" + bytes.fromhex("83 0000 0194 1f29 7c00")
    # 1,234,567
    + bytes.fromhex("a3 15") + b"x-opt-sequence-number" + bytes.fromhex("81 0000 0000 0012 d687")
    # 2025-01-01T00:01:00.000Z
    + bytes.fromhex("a3 12") + b"x-opt-locked-until" + bytes.fromhex("83 0000 0194 1f2a 6660")
    # 0: active
    + bytes.fromhex("a3 13") + b"x-opt-message-state" + bytes.fromhex("54 00")
)  # fmt: skip

# message-id, five nulls (user-id to correlation-id), content-type, three nulls, group-id: the session.
PROPERTIES: Final = (
    bytes.fromhex("00 53 73  c0 3c 0b")
    + bytes.fromhex("a1 17") + b"489434~0123456789abcdef"
    + bytes.fromhex("40 40 40 40 40")
    + bytes.fromhex("a3 10") + b"application/json"
    + bytes.fromhex("40 40 40")
    + bytes.fromhex("a1 06") + b"489434"
)  # fmt: skip

APPLICATION_PROPERTIES: Final = (
    bytes.fromhex("00 53 74  c1 52 04")
    + bytes.fromhex("a1 0b") + b"traceparent"
    + bytes.fromhex("a1 37") + b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    + bytes.fromhex("a1 07") + b"attempt" + bytes.fromhex("54 03")
)  # fmt: skip

DATA: Final = bytes.fromhex("00 53 75  a0 14") + b'{"orderId":"489434"}'

# From the nulls after message-id on.
_AFTER_MESSAGE_ID: Final = PROPERTIES[6 + 2 + len(MESSAGE_ID) :]

SENDERS_SECTIONS: Final = PROPERTIES + APPLICATION_PROPERTIES + DATA
FROM_BROKER: Final = BROKER_HEADER + MESSAGE_ANNOTATIONS + SENDERS_SECTIONS
CONTENT: Final = TOKEN_OCTETS + HEADER + DELIVERY_ANNOTATIONS + MESSAGE_ANNOTATIONS + SENDERS_SECTIONS


@dataclass
class BindingData:
    """A `model_binding_data` as the worker library hands it to a converter."""

    content: bytes = CONTENT
    version: str = "1.0"
    source: str = "AzureServiceBusReceivedMessage"
    content_type: str = "application/octet-stream"


def with_sections(*, header: bytes = HEADER, senders: bytes = SENDERS_SECTIONS) -> BindingData:
    """The same delivery with other sections."""
    return BindingData(TOKEN_OCTETS + header + DELIVERY_ANNOTATIONS + MESSAGE_ANNOTATIONS + senders)


def with_count(delivery_count: int) -> BindingData:
    """The same message at another delivery."""
    return with_sections(header=header_of(delivery_count))


def header_of(delivery_count: int) -> bytes:
    """The header at another delivery, up to the 255th."""
    return HEADER[:-1] + bytes([delivery_count])


def properties_with(message_id: bytes) -> bytes:
    """The same properties with another message-id, encoded."""
    fields = message_id + _AFTER_MESSAGE_ID
    return bytes.fromhex("00 53 73 c0") + bytes([1 + len(fields), 11]) + fields


def data_of(body: bytes) -> bytes:
    """A data section: `b0` is vbin32."""
    return bytes.fromhex("00 53 75 b0") + len(body).to_bytes(4) + body
