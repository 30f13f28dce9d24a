"""One client's connection: engine events to endpoints."""

import itertools
import logging
from collections.abc import Callable
from typing import Final, assert_never

from devstack.servicebus.amqp.conditions import NOT_FOUND
from devstack.servicebus.amqp.connection import Connection, Identity, Role
from devstack.servicebus.amqp.events import (
    Closed,
    CreditChanged,
    DeliveryConfirmed,
    DeliveryUpdated,
    Event,
    LinkAttached,
    LinkDetached,
    LinkProposed,
    MessageArrived,
    Opened,
    SenderAdvanced,
    SessionEnded,
    UnknownDeliveryUpdated,
)
from devstack.servicebus.amqp.performatives import Error
from devstack.servicebus.server.attaching import Attachments
from devstack.servicebus.server.cbs import Grants
from devstack.servicebus.server.namespace import Namespace
from devstack.servicebus.transport import AmqpProtocol

_logger = logging.getLogger(__name__)
_numbers = itertools.count(1)
_IDENTITY: Final = Identity("devstack-servicebus")


class ServedConnection(AmqpProtocol):
    """Serves one socket.

    Args:
        namespace: what all connections share.
        on_action: called after whatever may have changed the broker's deadlines.
        on_end: called when the socket is gone.
    """

    def __init__(
        self,
        namespace: Namespace,
        *,
        on_action: Callable[[], None],
        on_end: Callable[["ServedConnection"], None],
    ) -> None:
        super().__init__(Connection(Role.SERVER, _IDENTITY))
        self.number = next(_numbers)
        self._namespace = namespace
        self._on_action = on_action
        self._on_end = on_end
        self._attachments = Attachments(namespace, self, Grants(namespace))

    def holds(self, session_id: str) -> bool:
        """Whether the client holds a session of this id."""
        return self._attachments.holds(session_id)

    def data_received(self, data: bytes) -> None:
        """Act on what the client sent, at the present time."""
        self._namespace.broker.expire()
        self._namespace.deliver_events()
        super().data_received(data)
        self._on_action()

    def on_event(self, event: Event) -> None:
        """Act on one event, and hand out what it brought about before the next one is looked at."""
        match event:
            case MessageArrived() | DeliveryUpdated() | CreditChanged() | LinkProposed() | LinkDetached():
                self._attachments.on_event(event)
            case UnknownDeliveryUpdated(session):
                session.settle_unknown(event, Error(NOT_FOUND, "The delivery is unknown on this session."))
            case Closed():
                if event.is_fault:
                    _logger.warning("connection %d: protocol error: %s", self.number, event.error)
            case Opened() | LinkAttached() | SenderAdvanced() | DeliveryConfirmed() | SessionEnded():
                pass
            case _:
                assert_never(event)
        self._namespace.deliver_events()

    def on_lost(self) -> None:
        """Free what a client held that went without a word: its sessions at once, with a failed delivery."""
        _logger.info("connection %d is gone", self.number)
        self._attachments.lose_all()
        self._namespace.deliver_events()
        self._on_end(self)
        self._on_action()
