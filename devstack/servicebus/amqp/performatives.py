"""The performatives and composite types of AMQP 1.0.

How they are written and read stands in `composites`; `Open` to `Close` are the bodies of frames, the rest are
values inside them.

Source: OASIS AMQP 1.0 part 2 section 2.7 (performatives), part 3 sections 3.4 and 3.5 (outcomes, source,
target), part 5 section 5.3 (SASL).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from devstack.servicebus.amqp.types import Array, Described, Symbol, Value

type Fields = Mapping[Value, Value]
type Symbols = Array | Symbol


@dataclass(slots=True)
class Error:
    """Why something was refused or ended. `condition` is a symbol such as `amqp:not-found`."""

    condition: str
    description: str | None = None
    info: Fields | None = None


@dataclass(slots=True)
class Received:
    """A delivery's state: this much has arrived."""

    section_number: int
    section_offset: int


@dataclass(slots=True)
class Accepted:
    """Outcome: processed. To a broker: complete."""


@dataclass(slots=True)
class Rejected:
    """Outcome: invalid. To a broker, with the dead-letter condition or none: dead-letter."""

    error: Error | None = None


@dataclass(slots=True)
class Released:
    """Outcome: not processed, and not counted as an attempt."""


@dataclass(slots=True)
class Modified:
    """Outcome: not processed, with changes. To a broker: abandon, or defer when undeliverable here."""

    delivery_failed: bool | None = None
    undeliverable_here: bool | None = None
    message_annotations: Fields | None = None


type Outcome = Accepted | Rejected | Released | Modified
type DeliveryState = Outcome | Received | Described


@dataclass(slots=True)
class Source:
    """Where a link's messages come from."""

    address: Value = None
    durable: int | None = None
    expiry_policy: str | None = None
    timeout: int | None = None
    dynamic: bool | None = None
    dynamic_node_properties: Fields | None = None
    distribution_mode: str | None = None
    filter: Fields | None = None
    default_outcome: DeliveryState | None = None
    outcomes: Symbols | None = None
    capabilities: Symbols | None = None


@dataclass(slots=True)
class Target:
    """Where a link's messages go to."""

    address: Value = None
    durable: int | None = None
    expiry_policy: str | None = None
    timeout: int | None = None
    dynamic: bool | None = None
    dynamic_node_properties: Fields | None = None
    capabilities: Symbols | None = None


@dataclass(slots=True)
class Open:
    """Connection negotiation. `idle_time_out` is in milliseconds."""

    container_id: str
    hostname: str | None = None
    max_frame_size: int | None = None
    channel_max: int | None = None
    idle_time_out: int | None = None
    outgoing_locales: Symbols | None = None
    incoming_locales: Symbols | None = None
    offered_capabilities: Symbols | None = None
    desired_capabilities: Symbols | None = None
    properties: Fields | None = None


@dataclass(slots=True)
class Begin:
    """Begin of a session on a channel."""

    remote_channel: int | None
    next_outgoing_id: int
    incoming_window: int
    outgoing_window: int
    handle_max: int | None = None
    offered_capabilities: Symbols | None = None
    desired_capabilities: Symbols | None = None
    properties: Fields | None = None


@dataclass(slots=True)
class Attach:
    """Attach of a link. `role` is True when its sender of this frame receives on the link."""

    name: str
    handle: int
    role: bool
    snd_settle_mode: int | None = None
    rcv_settle_mode: int | None = None
    source: Source | Described | None = None
    target: Target | Described | None = None
    unsettled: Fields | None = None
    incomplete_unsettled: bool | None = None
    initial_delivery_count: int | None = None
    max_message_size: int | None = None
    offered_capabilities: Symbols | None = None
    desired_capabilities: Symbols | None = None
    properties: Fields | None = None


@dataclass(slots=True)
class Flow:
    """State of a session's window, and with a handle also of a link's credit."""

    next_incoming_id: int | None
    incoming_window: int
    next_outgoing_id: int
    outgoing_window: int
    handle: int | None = None
    delivery_count: int | None = None
    link_credit: int | None = None
    available: int | None = None
    drain: bool | None = None
    echo: bool | None = None
    properties: Fields | None = None


@dataclass(slots=True)
class Transfer:
    """One frame of a delivery; the payload follows it in the frame."""

    handle: int
    delivery_id: int | None = None
    delivery_tag: bytes | None = None
    message_format: int | None = None
    settled: bool | None = None
    more: bool | None = None
    rcv_settle_mode: int | None = None
    state: DeliveryState | None = None
    resume: bool | None = None
    aborted: bool | None = None
    batchable: bool | None = None


@dataclass(slots=True)
class Disposition:
    """State of the deliveries `first` to `last`. `role` is True when its sender received them."""

    role: bool
    first: int
    last: int | None = None
    settled: bool | None = None
    state: DeliveryState | None = None
    batchable: bool | None = None


@dataclass(slots=True)
class Detach:
    """Detach of a link; with `closed` for good."""

    handle: int
    closed: bool | None = None
    error: Error | None = None


@dataclass(slots=True)
class End:
    """End of a session."""

    error: Error | None = None


@dataclass(slots=True)
class Close:
    """Close of a connection."""

    error: Error | None = None


type Performative = Open | Begin | Attach | Flow | Transfer | Disposition | Detach | End | Close


@dataclass(slots=True)
class SaslMechanisms:
    """The mechanisms that a server offers."""

    sasl_server_mechanisms: Symbols


@dataclass(slots=True)
class SaslInit:
    """The mechanism that a client chose."""

    mechanism: str
    initial_response: bytes | None = None
    hostname: str | None = None


@dataclass(slots=True)
class SaslOutcome:
    """The end of the negotiation; `code` 0 means success, 1 failed authentication."""

    code: int
    additional_data: bytes | None = None


type SaslFrame = SaslMechanisms | SaslInit | SaslOutcome
type Composite = Performative | SaslFrame | DeliveryState | Source | Target | Error
