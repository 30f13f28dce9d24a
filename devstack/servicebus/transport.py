"""Carries an AMQP connection over asyncio: octets in and out, and heartbeats. Both ends build on it."""

import asyncio
from abc import abstractmethod

from devstack.servicebus.amqp.connection import Connection
from devstack.servicebus.amqp.events import Closed, Event, Opened
from devstack.servicebus.amqp.performatives import Error


class AmqpProtocol(asyncio.Protocol):
    """Drives one engine over one socket. Subclasses act on its events."""

    def __init__(self, engine: Connection) -> None:
        self.engine = engine
        self._transport: asyncio.Transport | None = None
        self._heartbeat: asyncio.TimerHandle | None = None

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Act on one event; what the engine then has to send is written after the last."""

    @abstractmethod
    def on_lost(self) -> None:
        """Act on the end of the socket, however it came about."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("an AMQP connection needs a stream")
        self._transport = transport
        self.flush()

    def data_received(self, data: bytes) -> None:
        """Act on what the peer sent."""
        for event in self.engine.receive(data):
            match event:
                case Opened():
                    self._plan_heartbeat()
                    self.on_event(event)
                case Closed():
                    self.on_event(event)
                    self.flush()
                    self._end()
                case _:
                    self.on_event(event)
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the socket."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._transport = None
        self.on_lost()

    def flush(self) -> None:
        """Write what the engine has to send."""
        if self._transport is None:
            return
        output = self.engine.take_output()
        if output:
            self._transport.write(output)

    def close(self, error: Error | None = None) -> None:
        """Tell the peer, and end the connection after what is written."""
        self.engine.close(error)
        self.flush()
        self._end()

    def abort(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _plan_heartbeat(self) -> None:
        """Keep a peer that asked for it assured that we live, whatever else is sent."""
        seconds = self.engine.heartbeat_seconds
        if seconds is not None:
            self._heartbeat = asyncio.get_running_loop().call_later(seconds, self._beat)

    def _beat(self) -> None:
        self.engine.heartbeat()
        self.flush()
        self._plan_heartbeat()
