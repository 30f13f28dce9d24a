"""How far a partition has come: the numbers that the engine keeps on the state document. Pure.

    eventSequence   of the last event                    outboxSequence   of the last outgoing message
    lastSequence    of the last operation applied        closed           whether any may follow
    parked          {sequence: key} of those that came before their turn
    waitingSince    when the oldest of them came         drainSince       when the first of them fell due

The last five are there only where the consumer's messages are numbered; the last two only while they say something, so
that an index over them holds nothing but the partitions that wait.
"""

from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field

from shared.idempotency.ports import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The numbers of one partition; see the module's text."""

    event_sequence: int = 0
    outbox_sequence: int = 0
    last_sequence: int = 0
    closed: bool = False
    parked: Mapping[int, str] = field(default_factory=dict)
    waiting_since: str | None = None
    drain_since: str | None = None

    @classmethod
    def of(cls, body: Document | None) -> "Progress":
        """Read them from a state document; None for a partition without one."""
        if body is None:
            return cls()
        parked = body.get("parked")
        return cls(
            event_sequence=_number(body, "eventSequence"),
            outbox_sequence=_number(body, "outboxSequence"),
            last_sequence=_number(body, "lastSequence"),
            closed=body.get("closed") is True,
            parked={int(number): str(key) for number, key in parked.items()} if isinstance(parked, dict) else {},
            waiting_since=_text(body, "waitingSince"),
            drain_since=_text(body, "drainSince"),
        )

    @property
    def due(self) -> tuple[int, ...]:
        """Parked numbers that wait for nothing any more: those next in turn; all, once nothing may follow."""
        if self.closed:
            return tuple(sorted(self.parked))
        following: list[int] = []
        while (number := self.last_sequence + 1 + len(following)) in self.parked:
            following.append(number)
        return tuple(following)

    def park(self, number: int, key: str, *, now: str) -> "Progress":
        """One more waits."""
        return replace(self, parked={**self.parked, number: key}, waiting_since=self.waiting_since or now)

    def unpark(self, number: int) -> "Progress":
        """One less waits."""
        parked = {other: key for other, key in self.parked.items() if other != number}
        return replace(self, parked=parked, waiting_since=self.waiting_since if parked else None)

    def stamped(self, now: str) -> "Progress":
        """The same with the time since when something is due."""
        return replace(self, drain_since=(self.drain_since or now) if self.due else None)

    def fields(self, *, numbered: bool) -> Document:
        """As they stand on the state document."""
        fields: Document = {"eventSequence": self.event_sequence, "outboxSequence": self.outbox_sequence}
        if not numbered:
            return fields
        fields |= {
            "lastSequence": self.last_sequence,
            "closed": self.closed,
            "parked": {str(number): key for number, key in sorted(self.parked.items())},
        }
        since = {"waitingSince": self.waiting_since, "drainSince": self.drain_since}
        return fields | {name: time for name, time in since.items() if time is not None}


def _number(body: Document, name: str) -> int:
    value = body.get(name)
    return value if isinstance(value, int) else 0


def _text(body: Document, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None
