"""An AMQP client for the Functions host's session pump, built on the same engine as the broker.

One connection carries many session receivers, each in an AMQP session of its own.
"""

from devstack.servicebus.client.connection import Connection
from devstack.servicebus.client.errors import (
    ConnectionLost,
    EntityNotFound,
    NotAuthorized,
    RequestRefused,
    ServiceBusClientError,
    SessionCannotBeLocked,
    SessionLockLost,
    SessionNotSupported,
    SettlementRejected,
)
from devstack.servicebus.client.outcomes import Abandon, Complete, DeadLetter, Delivery, received_message
from devstack.servicebus.client.session_receiver import SessionReceiver

__all__ = [
    "Abandon",
    "Complete",
    "Connection",
    "ConnectionLost",
    "DeadLetter",
    "Delivery",
    "EntityNotFound",
    "NotAuthorized",
    "RequestRefused",
    "ServiceBusClientError",
    "SessionCannotBeLocked",
    "SessionLockLost",
    "SessionNotSupported",
    "SessionReceiver",
    "SettlementRejected",
    "received_message",
]
