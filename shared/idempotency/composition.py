"""From a decision to the documents of one commit. Pure: times and ids come in.

The first write is always the message's own marker: what a refused commit says about it decides what follows.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from shared.idempotency.consumer import DOC_VERSION, Consumer
from shared.idempotency.decisions import Apply, Ignore
from shared.idempotency.json_text import Json
from shared.idempotency.messages import Message, State, to_document, utc_text
from shared.idempotency.ports import Create, Document, Replace, StoredDocument, Write


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


@dataclass(frozen=True, slots=True)
class Composed:
    """The writes of one commit, and the largest outbox message among them in bytes."""

    writes: tuple[Write, ...]
    message_bytes_max: int


def compose[M: Message, S: State](
    consumer: Consumer[M, S], run: Run[M], decision: Apply[S] | Ignore, stored: StoredDocument | None, now: datetime
) -> Composed:
    """The documents that a decision writes.

    Args:
        consumer: whose decision it is.
        run: the message in hand.
        decision: what is to be written.
        stored: the state document that was decided on, None where there was none.
        now: stamped on what is written.
    """
    match decision:
        case Ignore():
            return Composed((Create(_marker(consumer, run, now)),), 0)
        case Apply(state, events):
            pass
        case _:
            assert_never(decision)
    fields = _fields(consumer, run, state)
    stamp = utc_text(now)
    event_sequence = _number(stored, "eventSequence")
    outbox_sequence = _number(stored, "outboxSequence")
    outbox: list[Write] = []
    sizes = [0]
    for event in events:
        event_sequence += 1
        outbox_sequence += 1
        written = consumer.events.write(
            event, partition=run.partition, number=event_sequence, time=now, epoch=run.event_epoch
        )
        sizes.append(written.size_bytes)
        outbox.append(
            Create(
                {
                    "id": f"out:{outbox_sequence}",
                    consumer.documents.partition_field: run.partition,
                    "type": "outbox",
                    "docVersion": DOC_VERSION,
                    "destination": written.destination,
                    "message": written.message,
                    "traceparent": run.traceparent,
                    "status": "ready",
                    "readySince": stamp,
                }
            )
        )
    body: Document = {
        **fields,
        "id": run.partition,
        "type": consumer.documents.state.__name__,
        "docVersion": DOC_VERSION,
        "eventSequence": event_sequence,
        "outboxSequence": outbox_sequence,
        "createdAt": stamp if stored is None else stored.body.get("createdAt"),
        "updatedAt": stamp,
    }
    if consumer.documents.marks_itself(run.message):
        head: list[Write] = [Create({**body, "requestHash": run.request_hash, "attemptId": run.attempt_id})]
    elif stored is None:
        head = [Create(_marker(consumer, run, now)), Create(body)]
    else:
        head = [Create(_marker(consumer, run, now)), Replace({**_placing(stored), **body}, stored.etag)]
    return Composed((*head, *outbox), max(sizes))


def _fields[M: Message, S: State](consumer: Consumer[M, S], run: Run[M], state: S) -> Document:
    """The state's own fields, held to be those of the message's partition: nothing else can be in one batch."""
    if not isinstance(state, consumer.documents.state):
        raise TypeError(f"decide returned a {type(state).__name__}, not a {consumer.documents.state.__name__}")
    fields = to_document(state)
    name = consumer.documents.partition_field
    if fields[name] != run.partition:
        raise ValueError(f"decide returned a state whose {name} is not the message's")
    return fields


def _marker[M: Message, S: State](consumer: Consumer[M, S], run: Run[M], now: datetime) -> Document:
    return {
        "id": f"op:{run.key}",
        consumer.documents.partition_field: run.partition,
        "type": "operation",
        "docVersion": DOC_VERSION,
        "state": "applied",
        "requestHash": run.request_hash,
        "attemptId": run.attempt_id,
        "payload": to_document(run.message),
        "appliedAt": utc_text(now),
    }


def _placing(stored: StoredDocument) -> Document:
    """What makes the state document a marker stays on it for ever."""
    return {name: stored.body[name] for name in ("requestHash", "attemptId") if name in stored.body}


def _number(stored: StoredDocument | None, name: str) -> int:
    value: Json = None if stored is None else stored.body.get(name)
    return value if isinstance(value, int) else 0
