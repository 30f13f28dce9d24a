"""What the broker reports to its caller: deliveries, and answers to those who wait for a session."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from devstack.servicebus.broker.messages import StoredMessage
    from devstack.servicebus.broker.plain_queue import Consumer
    from devstack.servicebus.broker.session_queue import SessionLock, SessionRequest


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message was locked for a receiver; send it with this lock token."""

    receiver: "Consumer | SessionLock"
    lock_token: UUID
    message: "StoredMessage"


@dataclass(frozen=True, slots=True)
class SessionGranted:
    """A request got its session."""

    request: "SessionRequest"
    lock: "SessionLock"


@dataclass(frozen=True, slots=True)
class SessionTimedOut:
    """No session became available within a request's time."""

    request: "SessionRequest"


type BrokerEvent = Delivered | SessionGranted | SessionTimedOut
