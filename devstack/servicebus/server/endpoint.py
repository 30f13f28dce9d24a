"""What an attached link is connected to. Each kind of node has its own; see `attaching` for who gets which."""

from typing import Protocol

from devstack.servicebus.amqp.events import DeliveryUpdated, MessageArrived
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.broker.events import Delivered, SessionGranted, SessionTimedOut


class Flushable(Protocol):
    """A connection, as far as an endpoint on it is concerned."""

    def flush(self) -> None:
        """Write what its engine has to send."""


class IncomingEndpoint(Protocol):
    """Takes what a client sends on a link."""

    link: ReceivingLink

    def on_message(self, event: MessageArrived) -> None:
        """Act on a message and settle it. Nothing is held, so there is nothing to do when the link ends."""


class OutgoingEndpoint(Protocol):
    """Sends to a client on a link."""

    link: SendingLink

    def on_credit(self) -> None:
        """Use the link's credit, which changed; answer a drain."""

    def on_update(self, event: DeliveryUpdated) -> None:
        """Act on what the client decided about a delivery, and settle it."""

    def withdraw(self) -> None:
        """Take nothing new."""

    def on_detached(self, *, is_clean: bool) -> None:
        """Leave; not clean means that the connection was lost without a word."""


class BrokerListener(Protocol):
    """An endpoint that gets events of the broker, whichever connection caused them."""

    connection: Flushable

    def on_delivered(self, event: Delivered) -> None:
        """Send a message that was locked for this endpoint."""

    def on_granted(self, event: SessionGranted) -> None:
        """Take a session that this endpoint asked for."""

    def on_timed_out(self, event: SessionTimedOut) -> None:
        """Give up waiting for a session."""
