"""From the SDK's message to the core's delivery. Broker properties come from the broker alone, never from the body."""

from typing import Final

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from shared.idempotency.ports import Delivery
from shared.telemetry import traceparent_of

_TRACEPARENT: Final = "traceparent"


def delivery_of(message: ServiceBusReceivedMessage) -> Delivery:
    """Read a received message, whatever it holds: judging it is the engine's, so that nothing fails before that."""
    properties = message.application_properties or {}
    # Received keys and strings are bytes; a sender in another language may have used either.
    traceparent = properties.get(_TRACEPARENT.encode(), properties.get(_TRACEPARENT))
    return Delivery(
        message_id=_text(message.message_id) or "",
        session_id=_text(message.session_id),
        sequence_number=message.sequence_number or 0,
        # The broker counts from 0, the host's raw message from 1; an absent header is a first delivery.
        delivery_count=message.delivery_count or 1,
        body=b"".join(message.body) if message.body_type is AmqpMessageBodyType.DATA else None,
        traceparent=traceparent_of(_text(traceparent)),
    )


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)
