"""A decoded message: what a receiver reads, beside the raw sections it came in.

Source: OASIS AMQP 1.0 part 3, section 3.2 (header, properties and their field order).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from devstack.servicebus.amqp.decode import decode, skip
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import DecodeError, Described, Value


@dataclass(frozen=True, slots=True)
class Header:
    """Transport matters. `ttl` is in milliseconds; `delivery_count` is 0 on the first delivery."""

    durable: Value = None
    priority: Value = None
    ttl: Value = None
    first_acquirer: Value = None
    delivery_count: Value = None


@dataclass(frozen=True, slots=True)
class Properties:
    """The bare message's standard properties; `group_id` is Service Bus' session id."""

    message_id: Value = None
    user_id: Value = None
    to: Value = None
    subject: Value = None
    reply_to: Value = None
    correlation_id: Value = None
    content_type: Value = None
    content_encoding: Value = None
    absolute_expiry_time: Value = None
    creation_time: Value = None
    group_id: Value = None
    group_sequence: Value = None
    reply_to_group_id: Value = None


@dataclass(frozen=True)
class Message:
    """One message. Every part is decoded when it is first read.

    Attributes:
        sections: the raw sections, to be re-encoded without loss.
    """

    sections: Sections = field(repr=False)

    @classmethod
    def parse(cls, encoded: bytes) -> "Message":
        """Cut an encoded message into sections.

        Raises:
            DecodeError: the octets are no AMQP message.
        """
        return cls(Sections.parse(encoded))

    @cached_property
    def header(self) -> Header:
        """The header; all fields None when absent."""
        return Header(*_fields(self.sections.header, 5))

    @cached_property
    def properties(self) -> Properties:
        """The properties; all fields None when absent."""
        return Properties(*_fields(self.sections.properties, 13))

    @cached_property
    def delivery_annotations(self) -> Mapping[Value, Value]:
        """What holds for this delivery alone."""
        return _mapping(self.sections.delivery_annotations)

    @cached_property
    def message_annotations(self) -> Mapping[Value, Value]:
        """The broker's annotations, such as `x-opt-sequence-number`."""
        return _mapping(self.sections.message_annotations)

    @cached_property
    def application_properties(self) -> Mapping[Value, Value]:
        """The sender's own properties."""
        return _mapping(self.sections.application_properties)

    @cached_property
    def body_sections(self) -> tuple[Described, ...]:
        """The body sections and the footer, each with its descriptor, such as 0x75 for data."""
        decoded: list[Described] = []
        position, octets = 0, self.sections.body
        while position < len(octets):
            end = skip(octets, position)
            section, _ = decode(octets, position)
            if not isinstance(section, Described):
                raise DecodeError("a body section has no descriptor")
            decoded.append(section)
            position = end
        return tuple(decoded)


def _fields(raw_list: bytes, width: int) -> list[Value]:
    if not raw_list:
        return []
    decoded, _ = decode(raw_list)
    if not isinstance(decoded, list) or len(decoded) > width:
        raise DecodeError(f"the section is no list of at most {width} fields")
    return decoded


def _mapping(raw_map: bytes) -> Mapping[Value, Value]:
    if not raw_map:
        return {}
    decoded, _ = decode(raw_map)
    if not isinstance(decoded, dict):
        raise DecodeError("the section is no map")
    return decoded
