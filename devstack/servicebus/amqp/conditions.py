"""Error conditions that the AMQP standard names, and the error by which the engine reports a peer's fault.

Source: OASIS AMQP 1.0 part 2, sections 2.8.15 to 2.8.18.
"""

from typing import Final

DECODE_ERROR: Final = "amqp:decode-error"
ILLEGAL_STATE: Final = "amqp:illegal-state"
NOT_ALLOWED: Final = "amqp:not-allowed"
NOT_FOUND: Final = "amqp:not-found"
NOT_IMPLEMENTED: Final = "amqp:not-implemented"
UNAUTHORIZED_ACCESS: Final = "amqp:unauthorized-access"
FRAMING_ERROR: Final = "amqp:connection:framing-error"
UNATTACHED_HANDLE: Final = "amqp:session:unattached-handle"
HANDLE_IN_USE: Final = "amqp:session:handle-in-use"
MESSAGE_SIZE_EXCEEDED: Final = "amqp:link:message-size-exceeded"


class ProtocolError(Exception):
    """The peer broke the protocol; the connection closes with this condition."""

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description
