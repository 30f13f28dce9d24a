"""Who gets which endpoint when a client asks for a link, and why it may be refused.

Source: Azure docs, "Message sessions"; the texts are those of the service, because clients match on some of them.
"""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final, assert_never

from devstack.servicebus.amqp.conditions import NOT_IMPLEMENTED, UNAUTHORIZED_ACCESS
from devstack.servicebus.amqp.events import (
    CreditChanged,
    DeliveryUpdated,
    LinkDetached,
    LinkProposed,
    MessageArrived,
)
from devstack.servicebus.amqp.link import Link
from devstack.servicebus.amqp.performatives import Attach, Error, Source, Target
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.amqp.types import Described, Value
from devstack.servicebus.broker.errors import BrokerError, NotAllowedError
from devstack.servicebus.broker.plain_queue import PlainQueue
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue
from devstack.servicebus.server.addresses import Address, Node, parse_address
from devstack.servicebus.server.cbs import Grants
from devstack.servicebus.server.conditions import to_amqp
from devstack.servicebus.server.endpoint import Flushable, IncomingEndpoint, OutgoingEndpoint
from devstack.servicebus.server.ingress import QueueSender
from devstack.servicebus.server.management import Management
from devstack.servicebus.server.namespace import Namespace
from devstack.servicebus.server.receivers import SESSION_FILTER, PlainReceiver, SessionReceiver
from devstack.servicebus.server.replies import ReplyLink, RequestLink

_logger = logging.getLogger(__name__)
_DEFAULT_ACCEPT_SECONDS: Final = 60
_SETTLED: Final = 1


class _RefusedError(Exception):
    """A link is refused with this error."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.condition)
        self.error = error


@dataclass(slots=True)
class Attachments:
    """The links of one connection that are attached, or wait for their session, and their endpoints."""

    namespace: Namespace
    connection: Flushable
    grants: Grants
    incoming: dict[ReceivingLink, IncomingEndpoint] = field(default_factory=dict)
    outgoing: dict[SendingLink, OutgoingEndpoint] = field(default_factory=dict)

    def attach(self, link: SendingLink | ReceivingLink) -> None:
        """Give a proposed link its endpoint, or refuse it."""
        attach = link.remote
        if attach is None:
            raise RuntimeError("a link without attach was proposed")
        try:
            address = _address(attach)
            self._authorize(address)
            if isinstance(link, SendingLink):
                self.outgoing[link] = self._outgoing(link, attach, address)
            else:
                self.incoming[link] = self._incoming(link, address)
        except _RefusedError as refused:
            self._refuse(link, refused.error)
        except BrokerError as error:
            self._refuse(link, to_amqp(error))

    def on_event(self, event: MessageArrived | DeliveryUpdated | CreditChanged | LinkProposed | LinkDetached) -> None:
        """Pass an event of a link on to its endpoint; a link that is refused or gone has none."""
        match event:
            case MessageArrived(link):
                if (incoming := self.incoming.get(link)) is not None:
                    incoming.on_message(event)
            case DeliveryUpdated(link):
                if (outgoing := self.outgoing.get(link)) is not None:
                    outgoing.on_update(event)
            case CreditChanged(link):
                if (outgoing := self.outgoing.get(link)) is not None:
                    outgoing.on_credit()
            case LinkProposed(link):
                self.attach(link)
            case LinkDetached(link):
                self._detach(link)
            case _:
                assert_never(event)

    def _detach(self, link: Link) -> None:
        if isinstance(link, ReceivingLink):
            self.incoming.pop(link, None)
        elif isinstance(link, SendingLink) and (outgoing := self.outgoing.pop(link, None)) is not None:
            outgoing.on_detached(is_clean=True)

    def lose_all(self) -> None:
        """Let all endpoints leave, because the connection is gone without a word."""
        # First of all nobody here takes anything new: what one gives back must not go to another dead one.
        for outgoing in self.outgoing.values():
            outgoing.withdraw()
        for outgoing in self.outgoing.values():
            outgoing.on_detached(is_clean=False)
        self.incoming.clear()
        self.outgoing.clear()

    def holds(self, session_id: str) -> bool:
        """Whether one of the endpoints holds a session of this id."""
        receivers = (endpoint for endpoint in self.outgoing.values() if isinstance(endpoint, SessionReceiver))
        locks = (receiver.lock for receiver in receivers)
        return any(lock is not None and not lock.is_lost and lock.session_id == session_id for lock in locks)

    def _refuse(self, link: SendingLink | ReceivingLink, error: Error) -> None:
        _logger.warning("link %s refused: %s: %s", link.name, error.condition, error.description)
        link.refuse(error)

    def _authorize(self, address: Address) -> None:
        if address.node is Node.CBS:
            return
        if not self.grants.allow(address.entity):
            description = f"Unauthorized access. No valid token covers '{address.entity}'."
            raise _RefusedError(Error(UNAUTHORIZED_ACCESS, description))

    def _incoming(self, link: ReceivingLink, address: Address) -> IncomingEndpoint:
        match address.node:
            case Node.CBS:
                return RequestLink(link, self.grants.answer, partial(self._find_reply_link, address))
            case Node.MANAGEMENT:
                management = Management(self._queue(address), self._find_session)
                return RequestLink(link, management.answer, partial(self._find_reply_link, address))
            case Node.ENTITY:
                if address.is_dead_letter_queue:
                    raise NotAllowedError("A dead-letter queue takes no messages from clients.")
                return QueueSender(link, self._queue(address), self.namespace.faults)

    def _outgoing(self, link: SendingLink, attach: Attach, address: Address) -> OutgoingEndpoint:
        if address.node is not Node.ENTITY:
            target = attach.target.address if isinstance(attach.target, Target) else None
            return ReplyLink(link, address, target)
        queue = self._queue(address)
        if attach.snd_settle_mode == _SETTLED:
            raise _RefusedError(Error(NOT_IMPLEMENTED, "Receive-and-delete is not supported by the local stack."))
        source = attach.source.filter if isinstance(attach.source, Source) else None
        wanted = _session_filter(source or {})
        if isinstance(queue, PlainQueue):
            if wanted is not None:
                raise NotAllowedError(
                    "A sessionful message receiver cannot be created on an entity that does not require sessions."
                )
            return PlainReceiver(link, queue, self.namespace, self.connection)
        if wanted is None:
            raise NotAllowedError(
                "It is not possible for an entity that requires sessions to create a non-sessionful message receiver."
            )
        receiver = SessionReceiver(link, queue, self.namespace, self.connection)
        receiver.request(wanted.session_id, _accept_timeout(attach))
        return receiver

    def _queue(self, address: Address) -> PlainQueue | SessionQueue:
        broker = self.namespace.broker
        if address.is_dead_letter_queue:
            return broker.dead_letter_queue(address.queue)
        return broker.queue(address.queue)

    def _find_reply_link(self, node: Address, reply_to: Value) -> ReplyLink | None:
        """Find the link for answers: the one of that target, or, as azure-servicebus names none, of that node."""
        for endpoint in self.outgoing.values():
            if not isinstance(endpoint, ReplyLink):
                continue
            if endpoint.reply_to == reply_to if reply_to is not None else endpoint.node == node:
                return endpoint
        return None

    def _find_session(self, link_name: Value) -> SessionLock | None:
        for endpoint in self.outgoing.values():
            if isinstance(endpoint, SessionReceiver) and endpoint.link.name == link_name:
                return endpoint.lock
        return None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The session that a receiver asks for; None means the next available."""

    session_id: str | None


def _session_filter(filters: object) -> _Wanted | None:
    if not isinstance(filters, dict) or SESSION_FILTER not in filters:
        return None
    value = filters[SESSION_FILTER]
    if isinstance(value, Described):
        value = value.value
    return _Wanted(value if isinstance(value, str) else None)


def _accept_timeout(attach: Attach) -> timedelta:
    value = (attach.properties or {}).get("com.microsoft:timeout")
    return timedelta(milliseconds=value) if isinstance(value, int) else timedelta(seconds=_DEFAULT_ACCEPT_SECONDS)


def _address(attach: Attach) -> Address:
    """Return the node at our end of the link: the source where the client receives, else the target."""
    terminus = attach.source if attach.role else attach.target
    if isinstance(terminus, Described):
        raise _RefusedError(Error(NOT_IMPLEMENTED, "Transactions are not supported by the local stack."))
    if terminus is None or not isinstance(terminus.address, str):
        raise NotAllowedError("A link needs the address of a node of this namespace.")
    return parse_address(terminus.address)
