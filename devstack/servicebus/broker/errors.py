"""What the broker refuses. How each reads on the wire stands in `server.conditions`."""


class BrokerError(Exception):
    """Root of what the broker refuses; the text is meant for the client."""


class EntityNotFoundError(BrokerError):
    """There is no such queue."""


class NotAllowedError(BrokerError):
    """The queue is not made for that, such as a plain receiver on a queue with sessions."""


class InvalidMessageError(BrokerError):
    """A message breaks a rule of its queue; the text names the field and the rule."""


class SessionCannotBeLockedError(BrokerError):
    """Another receiver holds the session."""


class SessionLockLostError(BrokerError):
    """The session's lock expired, or was given back."""


class MessageLockLostError(BrokerError):
    """The message's lock expired, or it was settled before."""
