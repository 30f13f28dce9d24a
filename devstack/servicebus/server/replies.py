"""Request and reply: `$cbs` and `$management` take requests on one link and answer on another."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from devstack.servicebus.amqp.conditions import DECODE_ERROR, NOT_FOUND
from devstack.servicebus.amqp.events import DeliveryUpdated, MessageArrived
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import Accepted, Error, Outcome, Rejected
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.amqp.types import DecodeError, Value
from devstack.servicebus.server.addresses import Address
from devstack.servicebus.server.payloads import value_message

_REQUEST_CREDIT: Final = 100
_MESSAGE_SIZE_MAX: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its application properties by name, and its body's value."""

    properties: dict[str, Value]
    body: Value


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: application properties (the status above all), and a body."""

    properties: dict[Value, Value]
    body: Value = None


class ReplyLink:
    """The link that answers go out on; they wait here for the client's credit."""

    def __init__(self, link: SendingLink, node: Address, reply_to: Value) -> None:
        self.link = link
        self.node = node
        self.reply_to = reply_to
        self._waiting: deque[bytes] = deque()
        self._sent = 0
        link.accept(max_message_size=_MESSAGE_SIZE_MAX)
        self.on_credit()

    def send(self, payload: bytes) -> None:
        """Send an answer as soon as there is credit."""
        self._waiting.append(payload)
        self.on_credit()

    def on_credit(self) -> None:
        """Send what waits."""
        while self._waiting and self.link.credit > 0:
            self._sent += 1
            # Settled at once: azure-servicebus offers every disposition of a session to all its links.
            self.link.send(self._waiting.popleft(), self._sent.to_bytes(4), settled=True)
        if self.link.drain:
            self.link.drained()

    def on_update(self, event: DeliveryUpdated) -> None:
        """Ignore: answers are sent settled."""

    def withdraw(self) -> None:
        """Go on: it takes nothing from the broker."""

    def on_detached(self, *, is_clean: bool) -> None:
        """Drop what waits."""
        self._waiting.clear()


class RequestLink:
    """The link that requests come in on."""

    def __init__(
        self,
        link: ReceivingLink,
        answer: Callable[[Request], Reply],
        find_reply_link: Callable[[Value], ReplyLink | None],
    ) -> None:
        self.link = link
        self._answer = answer
        self._find_reply_link = find_reply_link
        link.accept(max_message_size=_MESSAGE_SIZE_MAX)
        link.credit_window = _REQUEST_CREDIT
        link.grant(_REQUEST_CREDIT)

    def on_message(self, event: MessageArrived) -> None:
        """Settle the request at once, and answer it."""
        try:
            outcome, send = self._prepare(Message.parse(event.payload))
        except DecodeError as error:
            outcome, send = Rejected(Error(DECODE_ERROR, str(error))), None
        if not event.settled:
            self.link.settle(event.delivery_id, outcome)
        if send is not None:
            send()

    def _prepare(self, message: Message) -> tuple[Outcome, Callable[[], None] | None]:
        reply_link = self._find_reply_link(message.properties.reply_to)
        if reply_link is None:
            return Rejected(Error(NOT_FOUND, "reply-to: there is no link with this target address.")), None
        names = message.application_properties
        request = Request({str(name): value for name, value in names.items()}, message.body_sections[0].value)
        correlation_id = message.properties.message_id

        def send() -> None:
            reply = self._answer(request)
            reply_link.send(value_message(reply.body, correlation_id, reply.properties))

        return Accepted(), send
