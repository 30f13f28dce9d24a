"""The SASL layer before the AMQP connection: no secrets travel here, `$cbs` authorizes afterwards.

MSSBCBS is the only mechanism that the .NET client accepts; the Python client picks ANONYMOUS.

Source: OASIS AMQP 1.0 part 5, section 5.3; Microsoft.Azure.Amqp 2.7.3; azure-servicebus 7.15.0.
"""

from typing import Final

from devstack.servicebus.amqp.conditions import NOT_IMPLEMENTED, UNAUTHORIZED_ACCESS, ProtocolError
from devstack.servicebus.amqp.performatives import SaslInit, SaslMechanisms, SaslOutcome
from devstack.servicebus.amqp.types import Array

MSSBCBS: Final = "MSSBCBS"
ANONYMOUS: Final = "ANONYMOUS"
_OFFERED: Final = (MSSBCBS, ANONYMOUS)
_CODE_OK: Final = 0
_CODE_AUTHENTICATION_FAILED: Final = 1


def offer() -> SaslMechanisms:
    """Return a server's offer."""
    return SaslMechanisms(Array(0xA3, _OFFERED))


def judge(init: SaslInit) -> SaslOutcome:
    """Return a server's verdict on a client's choice."""
    return SaslOutcome(_CODE_OK if init.mechanism in _OFFERED else _CODE_AUTHENTICATION_FAILED)


def choose(mechanisms: SaslMechanisms, hostname: str) -> SaslInit:
    """Return a client's choice out of a server's offer.

    Raises:
        ProtocolError: the server offers none that we speak.
    """
    offered = mechanisms.sasl_server_mechanisms
    names = offered.items if isinstance(offered, Array) else (offered,)
    for mechanism in _OFFERED:
        if mechanism in names:
            return SaslInit(mechanism, hostname=hostname)
    raise ProtocolError(NOT_IMPLEMENTED, f"SASL: the server offers none of {', '.join(_OFFERED)}")


def require_success(outcome: SaslOutcome) -> None:
    """Take a server's verdict.

    Raises:
        ProtocolError: it is not success.
    """
    if outcome.code != _CODE_OK:
        raise ProtocolError(UNAUTHORIZED_ACCESS, f"SASL: the server answered code {outcome.code}")
