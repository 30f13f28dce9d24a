"""The one place where the broker's refusals become AMQP errors.

Source: SDK azure-servicebus 7.15.0, `exceptions` and `_transport._pyamqp_transport` (condition to exception class).
"""

from typing import Final

from devstack.servicebus.amqp.conditions import NOT_ALLOWED, NOT_FOUND
from devstack.servicebus.amqp.performatives import Error
from devstack.servicebus.broker.errors import (
    BrokerError,
    EntityNotFoundError,
    InvalidMessageError,
    MessageLockLostError,
    NotAllowedError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)

SERVER_BUSY: Final = "com.microsoft:server-busy"
TIMEOUT: Final = "com.microsoft:timeout"
ARGUMENT_ERROR: Final = "com.microsoft:argument-error"
SESSION_CANNOT_BE_LOCKED: Final = "com.microsoft:session-cannot-be-locked"
SESSION_LOCK_LOST: Final = "com.microsoft:session-lock-lost"
MESSAGE_LOCK_LOST: Final = "com.microsoft:message-lock-lost"

_CONDITIONS: Final[dict[type[BrokerError], str]] = {
    EntityNotFoundError: NOT_FOUND,
    NotAllowedError: NOT_ALLOWED,
    InvalidMessageError: ARGUMENT_ERROR,
    SessionCannotBeLockedError: SESSION_CANNOT_BE_LOCKED,
    SessionLockLostError: SESSION_LOCK_LOST,
    MessageLockLostError: MESSAGE_LOCK_LOST,
}


def to_amqp(error: BrokerError) -> Error:
    """Return the AMQP error for a refusal."""
    return Error(_CONDITIONS[type(error)], str(error))
