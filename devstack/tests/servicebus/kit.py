"""What these tests share: a clock to move by hand, messages, queues, and two engines back to back."""

import asyncio
import contextlib
import itertools
from datetime import UTC, datetime, timedelta
from typing import Self
from uuid import UUID

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.connection import Connection, Identity, Role
from devstack.servicebus.amqp.events import Event
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.broker.settings import QueueSettings

START = datetime(2030, 1, 1, tzinfo=UTC)
KEY = "a key for tests"


class ManualClock:
    """Time stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class CountedIds:
    """Ids 1, 2, 3 and so on."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self) -> UUID:
        return UUID(int=next(self._numbers))


def queue(name: str = "orders", **changes: object) -> QueueSettings:
    """Return settings: sessions, locks of 60 s, three deliveries, no duplicate detection, unless changed."""
    settings: dict[str, object] = {
        "requires_session": True,
        "lock_duration": timedelta(seconds=60),
        "max_delivery_count": 3,
        "max_message_bytes": 262144,
        "duplicate_window": None,
    }
    return QueueSettings(name=name, **(settings | changes))  # type: ignore[arg-type]


def message(body: str = "hello", *, message_id: str | None = "m", session_id: str | None = None) -> Sections:
    """Return a message with a data section."""
    properties = [message_id, *[None] * 9, session_id]
    return Sections(properties=encode.encode(properties), body=b"\x00\x53\x75" + encode.encode(body.encode()))


class Pair:
    """A client's and a server's engine, whose octets go straight to each other."""

    def __init__(self) -> None:
        self.client = Connection(Role.CLIENT, Identity("client", "host"))
        self.server = Connection(Role.SERVER, Identity("server"))
        self.exchange()

    def exchange(self) -> tuple[list[Event], list[Event]]:
        """Carry octets until both are silent, and return the events at the client and at the server."""
        at_client: list[Event] = []
        at_server: list[Event] = []
        while True:
            upstream, downstream = self.client.take_output(), self.server.take_output()
            if not upstream and not downstream:
                return at_client, at_server
            at_server += self.server.receive(upstream)
            at_client += self.client.receive(downstream)


class Relay:
    """Stands between a client and a broker, to cut their connection as a network does."""

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    @classmethod
    async def open(cls, target_port: int) -> Self:
        relay = cls(target_port)
        relay._server = await asyncio.start_server(relay._serve, "127.0.0.1", 0)
        relay.port = relay._server.sockets[0].getsockname()[1]
        return relay

    def through(self, connection_string: str) -> str:
        """Return a connection string that leads through this relay."""
        return connection_string.replace(f":{self._target_port};", f":{self.port};")

    def drop(self) -> None:
        """Cut everything off, without a word to either side, and take nobody on any more."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers += [writer, onward[1]]
        await asyncio.gather(self._carry(reader, onward[1]), self._carry(onward[0], writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.transport.abort()
