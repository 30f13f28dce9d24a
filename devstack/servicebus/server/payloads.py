"""Messages on the wire: cutting what clients send, and dressing what they receive.

Source: Azure docs, "AMQP 1.0 in Azure Service Bus protocol guide"; SDK azure-servicebus 7.15.0 `_common.message`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.sections import DATA, Sections, merged_map
from devstack.servicebus.amqp.types import DecodeError, Int, Symbol, Timestamp, Value
from devstack.servicebus.broker.messages import StoredMessage

BATCH_FORMAT: Final = 0x80013700
_TICKS_PER_SECOND: Final = 10_000_000
_UNIX_EPOCH_TICKS: Final = 621_355_968_000_000_000
_STATE_ACTIVE: Final = Int(0)
_SEQUENCE_NUMBER: Final = encode.symbol("x-opt-sequence-number")
_ENQUEUED_TIME: Final = encode.symbol("x-opt-enqueued-time")
_ENQUEUE_SEQUENCE_NUMBER: Final = encode.symbol("x-opt-enqueue-sequence-number")
_MESSAGE_STATE: Final = encode.symbol("x-opt-message-state")
_LOCKED_UNTIL: Final = encode.symbol("x-opt-locked-until")
_DEAD_LETTER_SOURCE: Final = encode.symbol("x-opt-deadletter-source")


def received_messages(payload: bytes, message_format: int) -> list[Sections]:
    """Cut a delivery into messages: one, or in a batch one per data section of its envelope.

    The envelope's other sections copy the first message's; they are ignored, as Service Bus does.

    Raises:
        DecodeError: the payload, or a message in it, is no AMQP message.
    """
    envelope = Sections.parse(payload)
    if message_format != BATCH_FORMAT:
        return [envelope]
    messages: list[Sections] = []
    for section in Message(envelope).body_sections:
        if section.descriptor != DATA or not isinstance(section.value, bytes):
            raise DecodeError("a batch's body has to consist of data sections")
        messages.append(Sections.parse(section.value))
    return messages


def delivered_message(message: StoredMessage, locked_until: datetime | None) -> bytes:
    """Encode a stored message for a receiver; without `locked_until` for one who only peeks.

    The header always has its delivery count: .NET fails without.
    """
    number = encode.encode(message.sequence_number)
    annotations = {
        _SEQUENCE_NUMBER: number,
        _ENQUEUE_SEQUENCE_NUMBER: number,
        _ENQUEUED_TIME: encode.timestamp(milliseconds(message.enqueued_at)),
        _MESSAGE_STATE: encode.encode(_STATE_ACTIVE),
    }
    if locked_until is not None:
        annotations[_LOCKED_UNTIL] = encode.timestamp(milliseconds(locked_until))
    if message.dead_letter_source is not None:
        annotations[_DEAD_LETTER_SOURCE] = encode.string(message.dead_letter_source)
    content = message.content.with_delivery_count(message.delivery_count)
    return Sections(
        header=content.header,
        message_annotations=merged_map(content.message_annotations, annotations),
        properties=content.properties,
        application_properties=content.application_properties,
        body=content.body,
    ).encode()


def milliseconds(moment: datetime) -> int:
    """Return a time as an AMQP timestamp."""
    return int(moment.timestamp() * 1000)


def ticks(moment: datetime) -> int:
    """Return a time in .NET ticks: units of 100 ns since the year 1."""
    return int(moment.timestamp() * _TICKS_PER_SECOND) + _UNIX_EPOCH_TICKS


def value_message(value: Value, correlation_id: Value, application_properties: Mapping[Value, Value]) -> bytes:
    """Encode a reply: a body of one amqp-value, and the id of the request that it answers, in its own type."""
    properties = [None, None, None, None, None, correlation_id]
    return Sections(
        properties=encode.encode(properties),
        application_properties=encode.encode(dict(application_properties)),
        body=b"\x00\x53\x77" + encode.encode(value),
    ).encode()


def timestamp(moment: datetime) -> Timestamp:
    """Return a time as an AMQP value."""
    return Timestamp(milliseconds(moment))


def symbol_keys(names: Mapping[str, Value]) -> dict[Value, Value]:
    """Return a map with symbols for keys, as attach properties have them."""
    return {Symbol(name): value for name, value in names.items()}
