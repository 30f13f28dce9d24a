"""A message on its way out, and what takes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message to send.

    Attributes:
        message_id: `{key}~{h}`; an identical resend is dropped by the broker.
        session_id: the partition key value.
        body: JSON bytes.
        subject: the broker's Subject, None for none.
        traceparent: W3C trace context, None where there is none.
    """

    message_id: str
    session_id: str
    body: bytes
    subject: str | None = None
    traceparent: str | None = None


class Destination(Protocol):
    """A queue that takes messages. Implementation: `shared.servicebus.sender`."""

    async def send_batch(self, messages: Sequence[OutgoingMessage]) -> int:
        """Send, in order, as many from the first on as fit into one batch; returns how many the broker has accepted.

        None of some: the first can never be sent, because the destination takes none of its size.

        Raises:
            BrokerUnavailableError: not confirmed; some may be there. Send them again under the same MessageIds.
        """
        ...
