"""Sending to a queue, and asking the broker whether it is there."""

from dataclasses import dataclass
from typing import Final

from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

from shared.servicebus.link import Link
from shared.servicebus.outcomes import SDK_ERRORS, broker_error, send_error

_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message to send.

    Attributes:
        message_id: `{key}~{h}`; an identical resend is dropped by the broker.
        session_id: the partition key value.
        body: JSON bytes.
        traceparent: W3C trace context, None where there is none.
    """

    message_id: str
    session_id: str
    body: bytes
    traceparent: str | None = None


class QueueSender:
    """Sends to one queue over one link."""

    def __init__(self, client: ServiceBusClient, queue: str, *, send_seconds: float) -> None:
        self._link: Link[ServiceBusSender] = Link(lambda: client.get_queue_sender(queue), use_seconds=send_seconds)

    async def send(self, message: OutgoingMessage) -> None:
        """Return when the broker has accepted the message.

        Raises:
            BrokerUnavailableError: not confirmed; it may be in the queue. Send it again under the same MessageId.
            PermanentError: `PayloadTooLarge`; it is not in the queue.
        """
        outgoing = ServiceBusMessage(
            message.body,
            message_id=message.message_id,
            session_id=message.session_id,
            content_type=_JSON,
            application_properties=None if message.traceparent is None else {"traceparent": message.traceparent},
        )
        try:
            async with self._link.use() as sender:
                await sender.send_messages(outgoing)
        except SDK_ERRORS as error:
            raise send_error(error) from error

    async def close(self) -> None:
        """Close the link."""
        await self._link.close()


class QueueProbe:
    """Asks the broker for a queue's first dead letter: a round trip that takes nothing and needs no session."""

    def __init__(self, client: ServiceBusClient, queue: str, *, probe_seconds: float) -> None:
        self._link: Link[ServiceBusReceiver] = Link(
            lambda: client.get_queue_receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER),
            use_seconds=probe_seconds,
        )

    async def check(self) -> None:
        """Return when the broker has answered.

        Raises:
            BrokerUnavailableError: no answer, identity refused, or queue missing.
        """
        try:
            async with self._link.use() as receiver:
                await receiver.peek_messages(max_message_count=1)
        except SDK_ERRORS as error:
            raise broker_error(error) from error

    async def close(self) -> None:
        """Close the link."""
        await self._link.close()
