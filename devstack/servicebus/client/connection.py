"""A connection to a broker, and what can be done on it."""

import asyncio
from typing import Final, Self

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.types import Int, Value
from devstack.servicebus.client.errors import AcceptTimedOut, ConnectionLost
from devstack.servicebus.client.management import Management, Tokens
from devstack.servicebus.client.session_receiver import SessionReceiver
from devstack.servicebus.client.wire import ANSWER_SECONDS, Wire
from devstack.servicebus.connection_string import ConnectionString

_CLOSE_SECONDS: Final = 5.0


class Connection:
    """One connection with many session receivers. Made by `open`.

    Attributes:
        closed: set when the connection is gone, whoever ended it.
    """

    def __init__(self, wire: Wire, connection_string: ConnectionString) -> None:
        self.closed = wire.closed
        self._wire = wire
        self._tokens = Tokens(wire, connection_string)
        self._management: dict[str, Management] = {}

    @classmethod
    async def open(cls, connection_string: str) -> Self:
        """Connect and negotiate.

        Raises:
            ValueError: the connection string lacks a part; the text names it, never the key.
            ConnectionLost: nobody answers there.
        """
        target = ConnectionString.parse(connection_string)
        loop = asyncio.get_running_loop()
        wire = Wire(target.host)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await loop.create_connection(lambda: wire, target.host, target.port)
                await wire.opened
        except OSError as error:
            # A time-out is an OSError as well.
            wire.abort()
            raise ConnectionLost(f"Nobody answers at {target.host}:{target.port}.") from error
        except BaseException:
            wire.abort()
            raise
        return cls(wire, target)

    async def accept_session(
        self, entity: str, *, session_id: str | None = None, timeout_seconds: float
    ) -> SessionReceiver | None:
        """Lock a session: the one of that id, or the next that has messages; None when none came in time.

        When this is cancelled, the broker is told; a session that it grants nevertheless is given back.

        Raises:
            EntityNotFound, NotAuthorized, SessionNotSupported, SessionCannotBeLocked: as their names say.
            ConnectionLost: the connection is gone.
        """
        self._wire.raise_if_closed()
        await self._tokens.ensure(entity)
        receiver = SessionReceiver(self._wire, entity, session_id, timeout_seconds, self._management_of(entity))
        try:
            async with self._wire.operation(timeout_seconds + ANSWER_SECONDS):
                await receiver.accepted
        except AcceptTimedOut:
            await receiver.close()
            return None
        except BaseException:
            await receiver.close()
            raise
        return receiver

    async def peek(self, entity: str, count: int, *, from_sequence_number: int = 0) -> list[Message]:
        """Return up to `count` messages of an entity in order, without locking them.

        Raises:
            EntityNotFound, NotAuthorized: as their names say.
            ConnectionLost: the connection is gone.
        """
        self._wire.raise_if_closed()
        await self._tokens.ensure(entity)
        body: dict[Value, Value] = {
            "from-sequence-number": from_sequence_number,
            "message-count": Int(count),
        }
        answer = await self._management_of(entity).request("peek-message", body)
        entries = answer.get("messages", [])
        messages = [entry["message"] for entry in entries] if isinstance(entries, list) else []
        return [Message.parse(message) for message in messages]

    def abort(self) -> None:
        """End the connection without a word."""
        self._wire.abort()

    async def close(self) -> None:
        """Close the connection; sessions still held are released. Never raises."""
        self._wire.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.closed.wait()
        except TimeoutError:
            # The broker does not read any more, so what is written would wait for ever.
            self._wire.abort()

    def _management_of(self, entity: str) -> Management:
        return self._management.setdefault(entity, Management(self._wire, entity))
