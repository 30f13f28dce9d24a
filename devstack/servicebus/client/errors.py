"""What can go wrong, and the one place where AMQP errors become exceptions."""

from typing import Final

from devstack.servicebus.amqp.conditions import NOT_ALLOWED, NOT_FOUND, UNAUTHORIZED_ACCESS
from devstack.servicebus.amqp.performatives import Error

SESSION_LOCK_LOST: Final = "com.microsoft:session-lock-lost"
_TIMEOUT: Final = "com.microsoft:timeout"
_SESSION_CANNOT_BE_LOCKED: Final = "com.microsoft:session-cannot-be-locked"


class ServiceBusClientError(Exception):
    """Root of all errors of this client."""


class ConnectionLost(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The connection is gone, or its peer stopped answering. Open a new one; all session locks are released."""


class EntityNotFound(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The broker has no such queue. An operator's mistake: try again slowly."""


class NotAuthorized(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The broker refuses the key. An operator's mistake: try again slowly."""


class SessionNotSupported(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The queue has no sessions."""


class SessionCannotBeLocked(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """Another receiver holds the session that was asked for by id."""


class AcceptTimedOut(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """No session became available in time. `Connection.accept_session` returns None for it."""


class SessionLockLost(ServiceBusClientError):  # noqa: N818 - reads as what happened
    """The session's lock expired: its messages are delivered again. Close the receiver, accept anew."""


class _RefusedError(ServiceBusClientError):
    """A refusal with its AMQP error condition."""

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition


class SettlementRejected(_RefusedError):  # noqa: N818 - reads as what happened
    """The broker refused a settlement; `condition` says why. The message comes again."""


class RequestRefused(_RefusedError):  # noqa: N818 - reads as what happened
    """The broker refused a request to `$cbs` or `$management`; `condition` says why."""


_EXCEPTIONS: Final[dict[str, type[ServiceBusClientError]]] = {
    NOT_FOUND: EntityNotFound,
    UNAUTHORIZED_ACCESS: NotAuthorized,
    NOT_ALLOWED: SessionNotSupported,
    _SESSION_CANNOT_BE_LOCKED: SessionCannotBeLocked,
    SESSION_LOCK_LOST: SessionLockLost,
    _TIMEOUT: AcceptTimedOut,
}


def link_error(error: Error | None) -> ServiceBusClientError:
    """Return the exception for the end of a link; one that no rule of ours explains counts as a lost connection."""
    if error is None:
        return ConnectionLost("The broker detached the link.")
    exception = _EXCEPTIONS.get(error.condition, ConnectionLost)
    return exception(f"{error.condition}: {error.description}")


def settlement_error(error: Error) -> ServiceBusClientError:
    """Return the exception for a settlement that the broker rejected."""
    if error.condition == SESSION_LOCK_LOST:
        return SessionLockLost(f"{error.condition}: {error.description}")
    return SettlementRejected(error.condition, error.description or "")
