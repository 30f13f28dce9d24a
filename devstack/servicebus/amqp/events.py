"""What a connection reports: the peer's moves, for the caller to act on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devstack.servicebus.amqp.performatives import DeliveryState, Error, Open

if TYPE_CHECKING:
    from devstack.servicebus.amqp.link import Link
    from devstack.servicebus.amqp.receiving_link import ReceivingLink
    from devstack.servicebus.amqp.sending_link import SendingLink
    from devstack.servicebus.amqp.session import Session


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer's open arrived; sessions may begin."""

    remote: Open


@dataclass(frozen=True, slots=True)
class LinkProposed:
    """The peer asks for a link. Answer with `accept` or `refuse`, now or at any later time."""

    link: "SendingLink | ReceivingLink"


@dataclass(frozen=True, slots=True)
class LinkAttached:
    """The peer accepted our link; its answer is `link.remote`."""

    link: "Link"


@dataclass(frozen=True, slots=True)
class LinkDetached:
    """The link is gone, by a detach, an end or a close; also when the peer answered our detach."""

    link: "Link"
    error: Error | None


@dataclass(frozen=True, slots=True)
class CreditChanged:
    """The peer's credit for us changed; with `link.drain` it wants the rest used up or given up."""

    link: "SendingLink"


@dataclass(frozen=True, slots=True)
class SenderAdvanced:
    """The sender on our receiving link reported its state; after a drain `link.credit` is 0."""

    link: "ReceivingLink"


@dataclass(frozen=True, slots=True)
class MessageArrived:
    """A whole delivery arrived. Unless `settled`, settle it by `delivery_id`."""

    link: "ReceivingLink"
    delivery_id: int
    delivery_tag: bytes
    message_format: int
    settled: bool
    payload: bytes


@dataclass(frozen=True, slots=True)
class DeliveryUpdated:
    """The receiver of our delivery told its outcome. Unless `settled`, it waits for our `link.settle`."""

    link: "SendingLink"
    delivery_id: int
    delivery_tag: bytes
    state: DeliveryState | None
    settled: bool


@dataclass(frozen=True, slots=True)
class DeliveryConfirmed:
    """The sender of a delivery settled it with this outcome, after we told ours by `link.dispose`."""

    link: "ReceivingLink"
    delivery_id: int
    state: DeliveryState | None


@dataclass(frozen=True, slots=True)
class UnknownDeliveryUpdated:
    """The peer waits for the settlement of deliveries that this session does not know."""

    session: "Session"
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The peer ended the session; a `LinkDetached` for each of its links came before."""

    session: "Session"
    error: Error | None


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over: by the peer, or by us because the peer broke the protocol (then `is_fault`)."""

    error: Error | None
    is_fault: bool


type LinkEvent = LinkAttached | LinkDetached | CreditChanged | SenderAdvanced | MessageArrived | DeliveryConfirmed
type Event = LinkEvent | Opened | LinkProposed | DeliveryUpdated | UnknownDeliveryUpdated | SessionEnded | Closed
