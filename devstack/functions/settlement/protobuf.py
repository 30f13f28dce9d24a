"""The few protobuf messages of the Settlement service, decoded by hand.

====================  =================================================================================
message               fields
====================  =================================================================================
CompleteRequest       1 locktoken: string
AbandonRequest        1 locktoken: string, 2 propertiesToModify: bytes
DeadletterRequest     1 locktoken: string, 2 propertiesToModify: bytes, 3 deadletterReason: StringValue,
                      4 deadletterErrorDescription: StringValue
StringValue           1 value: string
====================  =================================================================================

Every answer is google.protobuf.Empty: no octets. All fields have wire type 2 (length-delimited).
Source: settlement.proto of the Service Bus extension; Protocol Buffers, "Encoding".
"""

from dataclasses import dataclass
from typing import Final

_LENGTH_DELIMITED: Final = 2


class WireError(ValueError):
    """The octets are no such message."""


@dataclass(frozen=True, kw_only=True)
class SettlementRequest:
    """What all settlement requests carry; a field that was not sent is empty."""

    lock_token: str
    properties_to_modify: bytes
    reason: str
    description: str


def decode_request(octets: bytes) -> SettlementRequest:
    """Decode any of the requests.

    Raises:
        WireError: the octets are no such message.
    """
    fields = _fields(octets)
    return SettlementRequest(
        lock_token=_text(fields.get(1, b"")),
        properties_to_modify=fields.get(2, b""),
        reason=_string_value(fields.get(3, b"")),
        description=_string_value(fields.get(4, b"")),
    )


def _string_value(octets: bytes) -> str:
    return _text(_fields(octets).get(1, b""))


def _text(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise WireError("a string is not UTF-8") from error


def _fields(octets: bytes) -> dict[int, bytes]:
    fields = dict[int, bytes]()
    position = 0
    while position < len(octets):
        tag, position = _varint(octets, position)
        if tag & 0b111 != _LENGTH_DELIMITED:
            raise WireError(f"field {tag >> 3} is not length-delimited")
        length, position = _varint(octets, position)
        if position + length > len(octets):
            raise WireError(f"field {tag >> 3} is longer than its message")
        fields[tag >> 3] = octets[position : position + length]  # a repeated field: the last one counts
        position += length
    return fields


def _varint(octets: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        if position >= len(octets):
            break
        octet = octets[position]
        position += 1
        value |= (octet & 0x7F) << shift
        if not octet & 0x80:
            return value, position
    raise WireError("a number is cut off or too long")
