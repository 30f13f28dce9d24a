"""What a receiver decides about a message that it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from devstack.servicebus.amqp.types import Value

type Properties = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Complete:
    """Remove it."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """Unlock it and count a failed delivery. `properties` are merged into its application properties."""

    properties: Properties = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Move it to the dead-letter queue. `properties` are merged into its application properties."""

    reason: str | None = None
    description: str | None = None
    properties: Properties = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Release:
    """Unlock it without counting a delivery."""


type Outcome = Complete | Abandon | DeadLetter | Release
