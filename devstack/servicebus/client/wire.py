"""The client's end of the socket: events to the links that they concern, and time limits for the peer."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol, assert_never
from uuid import uuid4

from devstack.servicebus.amqp.conditions import NOT_ALLOWED
from devstack.servicebus.amqp.connection import Connection, Identity, Role
from devstack.servicebus.amqp.events import (
    Closed,
    CreditChanged,
    DeliveryConfirmed,
    DeliveryUpdated,
    Event,
    LinkAttached,
    LinkDetached,
    LinkEvent,
    LinkProposed,
    MessageArrived,
    Opened,
    SenderAdvanced,
    SessionEnded,
    UnknownDeliveryUpdated,
)
from devstack.servicebus.amqp.link import Link
from devstack.servicebus.amqp.performatives import Error
from devstack.servicebus.client.errors import ConnectionLost, ServiceBusClientError
from devstack.servicebus.transport import AmqpProtocol

# A broker on this machine answers within milliseconds; one that does not for this long is taken for dead.
ANSWER_SECONDS: Final = 30.0


class LinkListener(Protocol):
    """Whoever uses a link."""

    def on_event(self, event: LinkEvent) -> None:
        """Act on an event of the link."""

    def on_lost(self, error: ServiceBusClientError) -> None:
        """Give up: the connection is gone."""


class Wire(AmqpProtocol):
    """One connection to a broker.

    Attributes:
        opened: done when the AMQP connection is open, or failed.
        closed: set when the socket is gone.
    """

    def __init__(self, hostname: str) -> None:
        container = f"devstack-client-{uuid4().hex[:12]}"
        super().__init__(Connection(Role.CLIENT, Identity(container, hostname)))
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = asyncio.Event()
        self._container = container
        self._numbers = itertools.count(1)
        self._listeners: dict[Link, LinkListener] = {}
        self._reason = "The connection was closed."

    def new_name(self, node: str) -> str:
        """Return a link name that is unique on this and every other connection."""
        return f"{self._container}-{next(self._numbers)}-{node}"

    def listen(self, link: Link, listener: LinkListener) -> None:
        """Send a link's events to a listener, until the link is detached."""
        self._listeners[link] = listener

    def raise_if_closed(self) -> None:
        """Raise `ConnectionLost` when the socket is gone."""
        if self.closed.is_set():
            raise ConnectionLost(self._reason)

    @asynccontextmanager
    async def operation(self, seconds: float = ANSWER_SECONDS) -> AsyncIterator[None]:
        """Limit the time of what waits for the broker's answer; when it runs out the connection is given up.

        Raises:
            ConnectionLost: the connection is gone, or was given up.
        """
        self.raise_if_closed()
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            self._reason = f"The broker did not answer within {seconds:g} s."
            self.abort()
            raise ConnectionLost(self._reason) from error

    def on_event(self, event: Event) -> None:
        """Pass an event on to the link's listener."""
        match event:
            case Opened():
                if not self.opened.done():
                    self.opened.set_result(None)
            case LinkDetached(link):
                listener = self._listeners.pop(link, None)
                if listener is not None:
                    listener.on_event(event)
            case LinkAttached() | CreditChanged() | SenderAdvanced() | MessageArrived() | DeliveryConfirmed():
                listener = self._listeners.get(event.link)
                if listener is not None:
                    listener.on_event(event)
            case Closed(error):
                if error is not None:
                    self._reason = f"{error.condition}: {error.description}"
            case LinkProposed(link):
                link.refuse(Error(NOT_ALLOWED, "This client takes no links."))
            case DeliveryUpdated() | UnknownDeliveryUpdated() | SessionEnded():
                pass
            case _:
                assert_never(event)

    def on_lost(self) -> None:
        """Tell everyone who uses a link."""
        self.closed.set()
        error = ConnectionLost(self._reason)
        if not self.opened.done():
            self.opened.set_exception(error)
        listeners, self._listeners = self._listeners, {}
        for listener in listeners.values():
            listener.on_lost(error)
