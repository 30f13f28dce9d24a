"""Deliveries, and what to do with them."""

from dataclasses import dataclass, replace
from typing import Final, assert_never
from uuid import UUID

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import Accepted, Error, Modified, Rejected
from devstack.servicebus.amqp.performatives import Outcome as WireOutcome
from devstack.servicebus.amqp.types import Symbol, UInt, Value

_LOCK_TOKEN: Final = Symbol("x-opt-lock-token")


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


type Outcome = Complete | Abandon | DeadLetter


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message under lock. `message.header.delivery_count` is 0 on the first delivery, as on the wire."""

    lock_token: UUID
    message: Message


def wire_outcome(outcome: Outcome) -> WireOutcome:
    """Return an outcome as a disposition carries it.

    Source: SDK azure-servicebus 7.15.0, `_transport._pyamqp_transport`.
    """
    match outcome:
        case Complete():
            return Accepted()
        case Abandon():
            return Modified(delivery_failed=True, undeliverable_here=False)
        case DeadLetter(reason, description):
            info: dict[Value, Value] = {
                Symbol("DeadLetterReason"): reason,
                Symbol("DeadLetterErrorDescription"): description,
            }
            return Rejected(Error("com.microsoft:dead-letter", None, info))
        case _:
            assert_never(outcome)


def received_message(delivery: Delivery) -> bytes:
    """Encode a delivery as the Functions host hands it to a worker, after the 16 octets of the lock token.

    Header (with the wire's delivery count + 1), delivery annotations (`x-opt-lock-token` alone), all else as it
    came.

    Source: WebJobs extension for Service Bus, `ServiceBusExtensionConfigProvider`; Azure.Messaging.ServiceBus
    counts deliveries from 1.
    """
    count = delivery.message.header.delivery_count
    sections = delivery.message.sections.with_delivery_count((count if isinstance(count, UInt) else 0) + 1)
    annotations = encode.encode({_LOCK_TOKEN: delivery.lock_token})
    return replace(sections, delivery_annotations=annotations).encode()
