"""From a client's disposition to the broker's outcome, and back to the echo that the client waits for.

The echo bears the same outcome. A dead-letter is echoed as rejected without error: to a client, rejected with an
error always means that the settlement failed.

Source: SDK azure-servicebus 7.15.0 `_pyamqp.receiver` (waits for a settled disposition); Azure.Messaging.ServiceBus
7.21.0 `AmqpReceiver` (properties to modify travel as annotations, or in the error's info).
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from devstack.servicebus.amqp.conditions import NOT_IMPLEMENTED
from devstack.servicebus.amqp.events import DeliveryUpdated
from devstack.servicebus.amqp.performatives import (
    Accepted,
    DeliveryState,
    Error,
    Modified,
    Received,
    Rejected,
    Released,
)
from devstack.servicebus.amqp.types import Value
from devstack.servicebus.broker.errors import BrokerError
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Outcome, Release
from devstack.servicebus.faults import ForgottenSettlement, LostEcho, SettlementFault
from devstack.servicebus.server.conditions import to_amqp

REASON: Final = "DeadLetterReason"
DESCRIPTION: Final = "DeadLetterErrorDescription"


def apply_update(
    event: DeliveryUpdated, settle: Callable[[UUID, Outcome], None], fault: SettlementFault | None
) -> None:
    """Settle a delivery as its receiver decided, and tell it what became of that; or let it meet its fault.

    The lock token is the delivery's tag, so that a handle from before a reconnect never settles a new lock.
    """
    if isinstance(event.state, Received):
        return
    outcome = _outcome(event.state)
    if isinstance(fault, ForgottenSettlement) and not isinstance(outcome, Error):
        outcome = Abandon()
    if fault == LostEcho(applied=False):
        return
    if isinstance(outcome, Error):
        echo: DeliveryState | None = Rejected(outcome)
    else:
        try:
            settle(UUID(bytes_le=event.delivery_tag), outcome)
            echo = Rejected() if isinstance(event.state, Rejected) else event.state
        except BrokerError as error:
            echo = Rejected(to_amqp(error))
    if not event.settled and not isinstance(fault, LostEcho):
        event.link.settle(event.delivery_id, echo)


def dead_letter(info: Mapping[Value, Value]) -> DeadLetter:
    """Read reason, description and further properties for a dead letter."""
    properties = named_properties(info)
    reason, description = properties.pop(REASON, None), properties.pop(DESCRIPTION, None)
    return DeadLetter(
        reason if isinstance(reason, str) else None,
        description if isinstance(description, str) else None,
        properties,
    )


def named_properties(pairs: Mapping[Value, Value]) -> dict[str, Value]:
    """Return properties to modify by plain string name: application properties have no symbols for keys."""
    return {str(name): value for name, value in pairs.items() if isinstance(name, str)}


def _outcome(state: DeliveryState | None) -> Outcome | Error:
    match state:
        case Accepted():
            return Complete()
        case Rejected(error):
            return dead_letter((error.info if error is not None else None) or {})
        case Released() | None:
            return Release()
        case Modified(undeliverable_here=True):
            return Error(NOT_IMPLEMENTED, "Deferring messages is not supported by the local stack.")
        case Modified(message_annotations=annotations):
            return Abandon(named_properties(annotations or {}))
        case _:
            return Error(NOT_IMPLEMENTED, "Transactions are not supported by the local stack.")
