"""One run over one delivery, as everything below the engine sees it."""

from collections import Counter
from dataclasses import dataclass, field

from shared.idempotency.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Run[M: Message]:
    """One run over one delivery.

    Attributes:
        message: parsed and checked.
        key: the message's key.
        partition: its partition key value.
        request_hash: its hash, `v1:<hex>`.
        attempt_id: of this run.
        traceparent: the sender's, None where absent.
        event_epoch: ends the source of the events.
        figures: what is counted on the way, for the log; see `Handled`.
    """

    message: M
    key: str
    partition: str
    request_hash: str
    attempt_id: str
    traceparent: str | None
    event_epoch: int
    figures: Counter[str] = field(default_factory=Counter, compare=False)
