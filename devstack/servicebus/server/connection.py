"""One client's connection: octets to engine events, events to endpoints."""

import asyncio
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

_logger = logging.getLogger(__name__)
_numbers = itertools.count(1)
CONTAINER_ID: Final = "devstack-servicebus"


class ServedConnection(asyncio.Protocol):
    """Serves one socket.

    Args:
        namespace: what all connections share.
        on_action: called after whatever may have changed the broker's deadlines.
        on_lost: called when the socket is gone.
    """

    def __init__(
        self,
        namespace: Namespace,
        *,
        on_action: Callable[[], None],
        on_lost: Callable[["ServedConnection"], None],
    ) -> None:
        self.number = next(_numbers)
        self._namespace = namespace
        self._on_action = on_action
        self._on_lost = on_lost
        self._engine = Connection(Role.SERVER, Identity(CONTAINER_ID))
        self._attachments = Attachments(namespace, self, Grants(namespace))
        self._transport: asyncio.Transport | None = None
        self._heartbeat: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("an AMQP connection needs a stream")
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Act on what the client sent."""
        self._namespace.broker.expire()
        self._namespace.deliver_events()
        for event in self._engine.receive(data):
            self._handle(event)
            # Now, and not after the batch: the next event may be about what this one brought about.
            self._namespace.deliver_events()
        self.flush()
        self._on_action()

    def connection_lost(self, exc: Exception | None) -> None:
        """Free what a client held that went without a word: its sessions at once, with a failed delivery."""
        _logger.info("connection %d is gone", self.number)
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._attachments.lose_all()
        self._transport = None
        self._on_lost(self)
        self._namespace.deliver_events()
        self._on_action()

    def flush(self) -> None:
        """Write what the engine has to send."""
        output = self._engine.take_output()
        if output and self._transport is not None:
            self._transport.write(output)

    def close(self, error: Error) -> None:
        """Tell the client why, and end the connection."""
        self._engine.close(error)
        self.flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def _handle(self, event: Event) -> None:
        match event:
            case MessageArrived() | DeliveryUpdated() | CreditChanged() | LinkProposed() | LinkDetached():
                self._attachments.on_event(event)
            case UnknownDeliveryUpdated(session):
                session.settle_unknown(event, Error(NOT_FOUND, "The delivery is unknown on this session."))
            case Opened():
                self._plan_heartbeat()
            case Closed():
                if event.is_fault:
                    _logger.warning("connection %d: protocol error: %s", self.number, event.error)
                self.flush()
                if self._transport is not None:
                    self._transport.close()
            case LinkAttached() | SenderAdvanced() | DeliveryConfirmed() | SessionEnded():
                pass
            case _:
                assert_never(event)

    def _plan_heartbeat(self) -> None:
        """Keep a client that asked for it assured that we live, whatever else is sent."""
        seconds = self._engine.heartbeat_seconds
        if seconds is not None:
            self._heartbeat = asyncio.get_running_loop().call_later(seconds, self._beat)

    def _beat(self) -> None:
        self._engine.heartbeat()
        self.flush()
        self._plan_heartbeat()
