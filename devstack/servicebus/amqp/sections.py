"""A message as its raw sections, so that what the broker does not change keeps its octets and types.

The broker rewrites only the header and the message annotations, and appends to the application properties;
all other sections are spliced as they came. Decode a whole message with `message.Message`.

Source: OASIS AMQP 1.0 part 3, section 3.2 (message format).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.decode import decode, elements, skip
from devstack.servicebus.amqp.types import DecodeError, Value

HEADER: Final = 0x70
DELIVERY_ANNOTATIONS: Final = 0x71
MESSAGE_ANNOTATIONS: Final = 0x72
PROPERTIES: Final = 0x73
APPLICATION_PROPERTIES: Final = 0x74
DATA: Final = 0x75
AMQP_SEQUENCE: Final = 0x76
AMQP_VALUE: Final = 0x77
FOOTER: Final = 0x78
# Sections come in this order; the three kinds of body share one place.
_PLACE: Final = {0x70: 0, 0x71: 1, 0x72: 2, 0x73: 3, 0x74: 4, 0x75: 5, 0x76: 5, 0x77: 5, 0x78: 6}
_MESSAGE_ID_FIELD: Final = 0
_GROUP_ID_FIELD: Final = 10


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of one message, each still encoded, without its descriptor; empty octets mean absent.

    `body` alone keeps its descriptors, and holds all body sections and the footer.
    """

    header: bytes = b""
    delivery_annotations: bytes = b""
    message_annotations: bytes = b""
    properties: bytes = b""
    application_properties: bytes = b""
    body: bytes = b""

    @classmethod
    def parse(cls, message: bytes) -> "Sections":
        """Cut an encoded message into its sections.

        Raises:
            DecodeError: a section is unknown, out of order, double, or cut short; or there is no body.
        """
        found: dict[int, bytes] = {}
        position, place = 0, -1
        while position < len(message):
            if message[position] != 0x00:
                raise DecodeError("a message section has no descriptor")
            descriptor, start = decode(message, position + 1)
            new_place = _PLACE.get(descriptor, -1) if isinstance(descriptor, int) else -1
            if new_place < place or (new_place == place and new_place != _PLACE[DATA]):
                raise DecodeError(f"message section {descriptor!r} is unknown, double or out of order")
            place = new_place
            if place >= _PLACE[DATA]:
                break
            position = skip(message, start)
            found[cast("int", descriptor)] = message[start:position]
        body = message[position:]
        if not body or place == _PLACE[FOOTER]:
            raise DecodeError("the message has no body section")
        _check_body(body)
        return cls(
            header=found.get(HEADER, b""),
            delivery_annotations=found.get(DELIVERY_ANNOTATIONS, b""),
            message_annotations=found.get(MESSAGE_ANNOTATIONS, b""),
            properties=found.get(PROPERTIES, b""),
            application_properties=found.get(APPLICATION_PROPERTIES, b""),
            body=body,
        )

    def encode(self) -> bytes:
        """Return the whole message, its sections in the order of the standard."""
        return b"".join(
            (
                b"\x00\x53\x70" + self.header if self.header else b"",
                b"\x00\x53\x71" + self.delivery_annotations if self.delivery_annotations else b"",
                b"\x00\x53\x72" + self.message_annotations if self.message_annotations else b"",
                b"\x00\x53\x73" + self.properties if self.properties else b"",
                b"\x00\x53\x74" + self.application_properties if self.application_properties else b"",
                self.body,
            )
        )

    @property
    def message_id(self) -> Value:
        """The message-id property: a string, uuid, ulong or binary; None when absent."""
        return _field(self.properties, _MESSAGE_ID_FIELD)

    @property
    def group_id(self) -> Value:
        """The group-id property, which is Service Bus' session id; None when absent."""
        return _field(self.properties, _GROUP_ID_FIELD)

    def with_message_id(self, message_id: str) -> "Sections":
        """Return a copy whose message-id property, absent or null so far, is `message_id`."""
        count, first, end = elements(self.properties, 0) if self.properties else (0, 0, 0)
        rest = self.properties[skip(self.properties, first) : end] if count else b""
        properties = encode.compound(0xC0, max(count, 1), encode.string(message_id) + rest)
        return replace(self, properties=properties)

    def with_delivery_count(self, delivery_count: int) -> "Sections":
        """Return a copy whose header carries this delivery count (uint), the other fields as they were."""
        fields = _raw_fields(self.header, 4) if self.header else [encode.NULL] * 4
        return replace(self, header=encode.list_of([*fields, encode.uint(delivery_count)]))

    def with_application_properties(self, added: Mapping[str, Value]) -> "Sections":
        """Return a copy with further application properties; one of the same name is replaced."""
        pairs = {encode.encode(key): encode.encode(value) for key, value in added.items()}
        return replace(self, application_properties=merged_map(self.application_properties, pairs))


def merged_map(raw_map: bytes, pairs: Mapping[bytes, bytes]) -> bytes:
    """Return an encoded map with encoded `pairs` added; a pair of the same key is replaced.

    Raises:
        DecodeError: `raw_map` is not empty and no map.
    """
    count, position, end = elements(raw_map, 0) if raw_map else (0, 0, 0)
    kept: dict[bytes, bytes] = {}
    for _ in range(count // 2):
        value_at = skip(raw_map, position)
        next_at = skip(raw_map, value_at)
        kept[raw_map[position:value_at]] = raw_map[value_at:next_at]
        position = next_at
    if position != end:
        raise DecodeError("a map's size and its elements differ")
    kept.update(pairs)
    return encode.compound(0xC1, 2 * len(kept), b"".join(key + value for key, value in kept.items()))


def _raw_fields(raw_list: bytes, wanted: int) -> list[bytes]:
    """Return the first `wanted` fields of an encoded list, padded with null."""
    count, position, _ = elements(raw_list, 0)
    fields: list[bytes] = []
    for _ in range(min(count, wanted)):
        end = skip(raw_list, position)
        fields.append(raw_list[position:end])
        position = end
    return fields + [encode.NULL] * (wanted - len(fields))


def _field(raw_list: bytes, index: int) -> Value:
    """Decode one field of an encoded list; None when the list ends before it."""
    if not raw_list:
        return None
    count, position, _ = elements(raw_list, 0)
    if index >= count:
        return None
    for _ in range(index):
        position = skip(raw_list, position)
    return decode(raw_list, position)[0]


def _check_body(body: bytes) -> None:
    """Accept one amqp-value, or data sections, or sequences; a footer may follow."""
    position, kinds = 0, []
    while position < len(body):
        if body[position] != 0x00:
            raise DecodeError("a message section has no descriptor")
        descriptor, start = decode(body, position + 1)
        kinds.append(descriptor)
        position = skip(body, start)
    if kinds and kinds[-1] == FOOTER:
        kinds.pop()
    if not kinds or len(set(kinds)) != 1 or kinds[0] not in (DATA, AMQP_SEQUENCE, AMQP_VALUE):
        raise DecodeError("the body mixes section kinds or has unknown ones")
    if kinds[0] == AMQP_VALUE and len(kinds) > 1:
        raise DecodeError("the body has more than one amqp-value section")
