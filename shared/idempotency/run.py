"""One run over one delivery, as everything below the engine sees it."""

from dataclasses import dataclass

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
    """

    message: M
    key: str
    partition: str
    request_hash: str
    attempt_id: str
    traceparent: str | None
    event_epoch: int
