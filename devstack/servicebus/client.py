"""AMQP client for the Functions host's session pump: one connection, one AMQP session per session receiver."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from devstack.servicebus.amqp.message import Message


class ServiceBusClientError(Exception):
    """Root of all errors of this client."""


class ConnectionLost(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The connection is gone, or its peer stopped answering. Open a new one; every session lock is released."""


class EntityNotFound(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The broker has no such queue. An operator's mistake: try again slowly."""


class NotAuthorized(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The broker refuses the key. An operator's mistake: try again slowly."""


class SessionNotSupported(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The queue has no sessions."""


class SessionCannotBeLocked(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """Another receiver holds the session that was asked for by id."""


class SessionLockLost(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The session's lock expired: its messages are delivered again. Close the receiver, accept anew."""


class SettlementRejected(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The broker refused a settlement for another reason; `condition` is its AMQP error condition."""

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition


@dataclass(frozen=True, slots=True)
class Complete:
    """Remove the message from the queue."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """Unlock the message with its delivery count raised by one."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Move the message to the dead-letter queue; both texts become application properties there."""

    reason: str
    description: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message under lock. `message.header.delivery_count` is 0 on the first delivery, as on the wire."""

    lock_token: UUID
    message: Message


class SessionReceiver:
    """One locked session: its messages come one at a time, in order."""

    session_id: str
    locked_until: datetime

    async def receive(self, timeout_seconds: float) -> Delivery | None:
        """Take the next message; None when none came in time, and then no credit is left behind."""
        raise NotImplementedError

    async def settle(self, delivery: Delivery, outcome: Complete | Abandon | DeadLetter) -> None:
        """Settle a delivery and wait until the broker says that it did.

        Raises:
            SessionLockLost: the lock expired before; the message comes again.
            SettlementRejected: the broker refused for another reason.
            ConnectionLost: unknown whether it was applied.
        """
        raise NotImplementedError

    async def renew_lock(self) -> datetime:
        """Extend the lock, and return until when it holds.

        Raises:
            SessionLockLost: the lock expired before.
            ConnectionLost: the connection is gone.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Give the session back at once; its unsettled messages keep their delivery count. Never raises."""
        raise NotImplementedError


class Connection:
    """One connection with many session receivers.

    Attributes:
        closed: set when the connection is gone, whoever ended it.
    """

    closed: asyncio.Event

    @classmethod
    async def open(cls, connection_string: str) -> Self:
        """Connect and negotiate.

        Raises:
            ValueError: the connection string lacks a part; the text names it, never the key.
            ConnectionLost: nobody answers there.
        """
        raise NotImplementedError

    async def accept_session(
        self, entity: str, *, session_id: str | None = None, timeout_seconds: float
    ) -> SessionReceiver | None:
        """Lock a session: the one of that id, or the next that has messages; None when none came in time.

        Raises:
            EntityNotFound, NotAuthorized, SessionNotSupported, SessionCannotBeLocked: as their names say.
            ConnectionLost: the connection is gone.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connection; sessions still held are released. Never raises."""
        raise NotImplementedError


def received_message(delivery: Delivery) -> bytes:
    """Encode a delivery as the Functions host hands it to a worker, after the 16 octets of the lock token.

    Header (delivery count of the wire + 1), delivery annotations (`x-opt-lock-token` alone), all else as it came.
    """
    raise NotImplementedError
