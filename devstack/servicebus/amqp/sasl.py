"""The SASL layer before the AMQP connection: no secrets travel here, `$cbs` authorizes afterwards.

MSSBCBS is the only mechanism that the .NET client accepts; the Python client picks ANONYMOUS.

Source: OASIS AMQP 1.0 part 5, section 5.3; Microsoft.Azure.Amqp 2.7.3; azure-servicebus 7.15.0.
"""

from typing import Final, assert_never

from devstack.servicebus.amqp.conditions import (
    NOT_ALLOWED,
    NOT_IMPLEMENTED,
    UNAUTHORIZED_ACCESS,
    ProtocolError,
)
from devstack.servicebus.amqp.performatives import SaslFrame, SaslInit, SaslMechanisms, SaslOutcome
from devstack.servicebus.amqp.types import Array

MSSBCBS: Final = "MSSBCBS"
ANONYMOUS: Final = "ANONYMOUS"
_OFFERED: Final = (MSSBCBS, ANONYMOUS)
_CODE_OK: Final = 0
_CODE_AUTHENTICATION_FAILED: Final = 1


def offer() -> SaslMechanisms:
    """Return a server's offer."""
    return SaslMechanisms(Array(0xA3, _OFFERED))


def judge(content: SaslFrame) -> SaslOutcome:
    """Return a server's verdict on a client's choice.

    Raises:
        ProtocolError: the client sent something else.
    """
    if not isinstance(content, SaslInit):
        raise ProtocolError(NOT_ALLOWED, f"SASL: {type(content).__name__} is a server's to send")
    return SaslOutcome(_CODE_OK if content.mechanism in _OFFERED else _CODE_AUTHENTICATION_FAILED)


def reply(content: SaslFrame, hostname: str | None) -> SaslInit | None:
    """Return a client's choice out of a server's offer; None when the server is satisfied.

    Raises:
        ProtocolError: the server offers none that we speak, or is not satisfied.
    """
    match content:
        case SaslMechanisms(offered):
            names = offered.items if isinstance(offered, Array) else (offered,)
            for mechanism in _OFFERED:
                if mechanism in names:
                    return SaslInit(mechanism, hostname=hostname)
            raise ProtocolError(NOT_IMPLEMENTED, f"SASL: the server offers none of {', '.join(_OFFERED)}")
        case SaslOutcome(code) if code == _CODE_OK:
            return None
        case SaslOutcome(code):
            raise ProtocolError(UNAUTHORIZED_ACCESS, f"SASL: the server answered code {code}")
        case SaslInit():
            raise ProtocolError(NOT_ALLOWED, "SASL: an init is a client's to send")
        case _:
            assert_never(content)
