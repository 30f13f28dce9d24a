"""The broker on a port: accepts connections and keeps the broker's deadlines."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import assert_never
from uuid import UUID, uuid4

from devstack.control import FaultError
from devstack.servicebus.amqp.performatives import Error
from devstack.servicebus.broker.broker import Broker
from devstack.servicebus.broker.errors import EntityNotFoundError
from devstack.servicebus.broker.session_queue import SessionQueue
from devstack.servicebus.broker.settings import QueueSettings
from devstack.servicebus.connection_string import KEY_NAME, ConnectionString
from devstack.servicebus.faults import Act, DroppedConnections, ExpiredLock, FaultBook
from devstack.servicebus.server.connection import ServedConnection
from devstack.servicebus.server.namespace import Namespace


def utc_now() -> datetime:
    """Return the time, aware and UTC."""
    return datetime.now(UTC)


class Server:
    """A Service Bus namespace on a socket.

    Args:
        queues: what it serves.
        key: of the key name `RootManageSharedAccessKey`.
        clock: the time, aware and UTC. When it does not run with real time, call `expire` after each step.
        new_id: fresh ids.
    """

    def __init__(
        self,
        queues: Iterable[QueueSettings],
        *,
        key: str,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], UUID] = uuid4,
    ) -> None:
        self._key = key
        self._clock = clock
        self._broker = Broker(queues, clock=clock, new_id=new_id)
        self.faults = FaultBook(self._act)
        self._namespace = Namespace(self._broker, {KEY_NAME: key}, clock, self.faults)
        self._connections: set[ServedConnection] = set()
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._planned: datetime | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> ConnectionString:
        """Listen, and return how to connect. With port 0 the system chooses a free one.

        Raises:
            OSError: the port is taken, or the host is none of this machine.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, host, port)
        bound = self._server.sockets[0].getsockname()[1]
        return ConnectionString(host, bound, KEY_NAME, self._key)

    async def stop(self, grace_seconds: float = 2.0) -> None:
        """Close all connections with a word, and stop listening; who does not take it in time is cut off."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            connection.close(Error("amqp:connection:forced", "The broker is stopping."))
        try:
            async with asyncio.timeout(grace_seconds):
                await self._server.wait_closed()
        except TimeoutError:
            # A client that does not read would keep its last words, and this process, for ever.
            self._server.abort_clients()
            await self._server.wait_closed()
        if self._timer is not None:
            self._timer.cancel()

    def expire(self) -> None:
        """Do what is due by now: expire locks, end waits."""
        self._broker.expire()
        self._namespace.deliver_events()
        self._after_action()

    def _act(self, fault: Act) -> None:
        match fault:
            case ExpiredLock(queue_name, session_id):
                try:
                    queue = self._broker.queue(queue_name)
                except EntityNotFoundError as error:
                    raise FaultError(str(error)) from error
                if not isinstance(queue, SessionQueue) or not queue.expire_lock(session_id):
                    raise FaultError(f"nobody holds session {session_id} of {queue_name}")
                self.expire()
            case DroppedConnections(session_id):
                meant = [each for each in self._connections if session_id is None or each.holds(session_id)]
                if session_id is not None and not meant:
                    raise FaultError(f"nobody holds session {session_id}")
                for connection in meant:
                    connection.abort()
            case _:
                assert_never(fault)

    def _connect(self) -> ServedConnection:
        connection = ServedConnection(self._namespace, on_action=self._after_action, on_end=self._connections.discard)
        self._connections.add(connection)
        return connection

    def _after_action(self) -> None:
        """Write to the connections that others gave something, and plan for the next deadline."""
        self._namespace.flush()
        deadline = self._broker.next_deadline()
        if deadline == self._planned:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._planned = deadline
        if deadline is not None:
            # Exact, because a client that waits for a session counts on the answer within milliseconds.
            seconds = max(0.0, (deadline - self._clock()).total_seconds())
            self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        self._planned = None
        self.expire()
