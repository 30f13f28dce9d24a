"""What one commit is going to write, grown message by message. Pure: times and ids come in.

The first write is always the marker of the first message: what a refused commit says about it decides what follows.
"""

from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import msgspec

from shared.idempotency.consumer import DOC_VERSION, EXPECTED, Consumer
from shared.idempotency.decisions import Apply, Decision
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import Event, Message, State, to_document, utc_text
from shared.idempotency.ports import Create, Delete, Document, Replace, StoredDocument, Write
from shared.idempotency.progress import Progress
from shared.idempotency.run import Run

_MARKS: Final = frozenset({"requestHash", "attemptId"})
_WHILE_WAITING: Final = frozenset({"waitingSince", "drainSince"})


@dataclass(frozen=True, slots=True)
class Part:
    """A further document of the partition.

    Attributes:
        value: its content.
        etag: as it is stored; None where it is to be created.
        is_written: whether the commit writes it.
    """

    value: State
    etag: str | None
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """The writes of one commit, and the largest outgoing message among them in bytes."""

    writes: tuple[Write, ...]
    message_bytes_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft[M: Message, S: State]:
    """The writes of one commit so far; each method adds one message's and returns a new draft.

    Attributes:
        consumer: whose rules hold.
        partition: partition key value.
        stored: the state document that the draft starts from, None where there is none.
        now: stamped on what is written.
        progress: the numbers after the messages so far.
        parts: further documents by id, as they are after the messages so far.
        state: the consumer's state after them; None where no message was applied yet.
        marks: what makes the state document the marker of the message that creates it.
        markers: of the messages, in their order.
        outbox: outgoing messages.
        message_bytes_max: size of the largest.
    """

    consumer: Consumer[M, S]
    partition: str
    stored: StoredDocument | None
    now: datetime
    progress: Progress
    parts: Mapping[str, Part] = field(default_factory=dict)
    state: S | None = None
    marks: Document = field(default_factory=dict)
    markers: tuple[Write, ...] = ()
    outbox: tuple[Write, ...] = ()
    message_bytes_max: int = 0

    @classmethod
    def of(
        cls,
        consumer: Consumer[M, S],
        partition: str,
        stored: StoredDocument | None,
        now: datetime,
        parts: Mapping[str, Part],
    ) -> "Draft[M, S]":
        """An empty draft on a state document and the further documents that were read."""
        body = None if stored is None else stored.body
        # What makes the state document a marker stays on it for ever.
        marks: Document = {name: body[name] for name in _MARKS if body and name in body}
        return cls(
            consumer=consumer,
            partition=partition,
            stored=stored,
            now=now,
            progress=Progress.of(body),
            parts=parts,
            marks=marks,
        )

    @property
    def current_state(self) -> S | None:
        """What the next message is decided on; None where the consumer's state does not exist yet."""
        if self.state is not None or self.stored is None:
            return self.state
        return self.consumer.documents.read_state(self.stored)

    def decide(self, message: M) -> Decision[S]:
        """What the consumer says to a message, on what those before it leave."""
        return self.consumer.decision(self.current_state, message, self.related)

    @property
    def created(self) -> dict[str, type[State]]:
        """The further documents to be created, with their classes."""
        return {
            document_id: type(part.value)
            for document_id, part in self.parts.items()
            if part.is_written and part.etag is None
        }

    @property
    def related(self) -> Mapping[str, State]:
        """The further documents that exist, as a decision function sees them."""
        return {document_id: part.value for document_id, part in self.parts.items()}

    def apply(self, run: Run[M], decision: Apply[S], parked: StoredDocument | None = None) -> "Draft[M, S]":
        """Add what a message changes; `parked` is its marker where it waited for its turn."""
        expected = self.consumer.documents.state
        if not isinstance(decision.state, expected):
            raise TypeError(f"decide returned a {type(decision.state).__name__}, not a {expected.__name__}")
        drafted = self._take_in(run, parked)
        drafted = replace(drafted, state=decision.state, parts=self._parts_after(decision))
        for event in decision.events:
            drafted = drafted._with_event(run, event)
        return drafted

    def ignore(self, run: Run[M], parked: StoredDocument | None = None) -> "Draft[M, S]":
        """Add a message that changes nothing: its marker, and its number where it has one."""
        return self._take_in(run, parked)

    def park(self, run: Run[M], number: int) -> "Draft[M, S]":
        """Add a message that came before its turn: its marker holds it."""
        marker = _marker(self, run) | {"state": "parked", "sequence": number, "traceparent": run.traceparent}
        del marker["appliedAt"]
        progress = self.progress.park(number, run.key, now=utc_text(self.now))
        return replace(self, progress=progress, markers=(*self.markers, Create(marker)))

    def send_back(self, run: Run[M], number: int, parked: StoredDocument) -> "Draft[M, S]":
        """Undo the parking of a message, and send it to its queue again, where its delivery is judged as any other.

        Its MessageId is a new one, so that the broker lets it pass.
        """
        progress = self.progress.unpark(number)
        outbox_sequence = progress.outbox_sequence + 1
        message_id = f"{message_id_of(run.key, run.request_hash)}~b{outbox_sequence}"
        body = to_document(run.message)
        message: Document = {
            "messageId": message_id,
            "sessionId": self.partition,
            "subject": str(body["type"]),
            "contentType": "application/json",
            "body": body,
        }
        drafted = replace(self, progress=progress, markers=(*self.markers, Delete(str(parked.body["id"]), parked.etag)))
        return drafted._with_outgoing(run, self.consumer.queue, message, len(msgspec.json.encode(body)))

    def composed(self) -> Composed:
        """The writes, the first message's marker first."""
        if self.state is None and self.consumer.numbering is None:
            return Composed(self.markers, self.message_bytes_max)
        state = self._state_document()
        if self.stored is not None:
            head: Write = Replace(state, self.stored.etag)
        else:
            head = Create(state)
        parts = [_part_write(self, document_id, part) for document_id, part in self.parts.items() if part.is_written]
        markers = self.markers
        if self.progress.due and markers and isinstance(markers[0], Create):
            # Whoever finds this marker goes on draining before the message is completed.
            markers = (Create({**markers[0].body, "more": True}), *markers[1:])
        return Composed((*markers[:1], head, *markers[1:], *parts, *self.outbox), self.message_bytes_max)

    def _take_in(self, run: Run[M], parked: StoredDocument | None) -> "Draft[M, S]":
        progress = self.progress
        if self.consumer.numbering is not None:
            number = self.consumer.numbering.number(run.message)
            progress = replace(
                progress.unpark(number),
                last_sequence=number,
                closed=progress.closed or self.consumer.numbering.closes(run.message),
            )
        if self.consumer.documents.marks_itself(run.message):
            marks: Document = {"requestHash": run.request_hash, "attemptId": run.attempt_id}
            return replace(self, progress=progress, marks=marks)
        marker: Write = Create(_marker(self, run))
        if parked is not None:
            body = {name: value for name, value in parked.body.items() if name != "traceparent"}
            marker = Replace({**body, "state": "applied", "appliedAt": utc_text(self.now)}, parked.etag)
        return replace(self, progress=progress, markers=(*self.markers, marker))

    def _parts_after(self, decision: Apply[S]) -> dict[str, Part]:
        parts = dict(self.parts)
        for document_id, value in decision.creates.items():
            if document_id in parts or _is_engines(document_id, self.partition):
                raise ValueError(f"decide creates {document_id}, which exists: look into `related` first")
            parts[document_id] = Part(value, None, is_written=True)
        for document_id, value in decision.replaces.items():
            if document_id not in parts:
                raise ValueError(f"decide replaces {document_id}: name it in `related`, and only replace what is there")
            parts[document_id] = Part(value, parts[document_id].etag, is_written=True)
        return parts

    def _with_event(self, run: Run[M], event: Event) -> "Draft[M, S]":
        number = self.progress.event_sequence + 1
        written = self.consumer.events.write(
            event, partition=self.partition, number=number, time=self.now, epoch=run.event_epoch
        )
        numbered = replace(self, progress=replace(self.progress, event_sequence=number))
        return numbered._with_outgoing(run, written.destination, written.message, written.size_bytes)

    def _with_outgoing(self, run: Run[M], destination: str, message: Document, size_bytes: int) -> "Draft[M, S]":
        number = self.progress.outbox_sequence + 1
        document: Document = {
            "id": f"out:{number}",
            self.consumer.documents.partition_field: self.partition,
            "type": "outbox",
            "docVersion": DOC_VERSION,
            "destination": destination,
            "message": message,
            "traceparent": run.traceparent,
            "status": "ready",
            "readySince": utc_text(self.now),
        }
        return replace(
            self,
            progress=replace(self.progress, outbox_sequence=number),
            outbox=(*self.outbox, Create(document)),
            message_bytes_max=max(self.message_bytes_max, size_bytes),
        )

    def _state_document(self) -> Document:
        stored = {} if self.stored is None else self.stored.body
        fields = stored if self.state is None else _business_fields(self, self.state)
        stamp = utc_text(self.now)
        numbered = self.consumer.numbering is not None
        return {
            **{name: value for name, value in fields.items() if name not in _WHILE_WAITING},
            "id": self.partition,
            self.consumer.documents.partition_field: self.partition,
            "type": fields.get("type", EXPECTED) if self.state is None else self.consumer.documents.state.__name__,
            "docVersion": DOC_VERSION,
            **self.progress.stamped(stamp).fields(numbered=numbered),
            "createdAt": stored.get("createdAt", stamp),
            "updatedAt": stamp,
            **self.marks,
        }


def _business_fields[M: Message, S: State](draft: Draft[M, S], state: S) -> Document:
    """The state's own fields, held to be those of the message's partition: nothing else can be in one batch."""
    fields, name = to_document(state), draft.consumer.documents.partition_field
    if fields[name] != draft.partition:
        raise ValueError(f"decide returned a state whose {name} is not the message's")
    return fields


def _marker[M: Message, S: State](draft: Draft[M, S], run: Run[M]) -> Document:
    return {
        "id": f"op:{run.key}",
        draft.consumer.documents.partition_field: draft.partition,
        "type": "operation",
        "docVersion": DOC_VERSION,
        "state": "applied",
        "requestHash": run.request_hash,
        "attemptId": run.attempt_id,
        "payload": to_document(run.message),
        "appliedAt": utc_text(draft.now),
    }


def _part_write[M: Message, S: State](draft: Draft[M, S], document_id: str, part: Part) -> Write:
    body: Document = {
        **to_document(part.value),
        "id": document_id,
        draft.consumer.documents.partition_field: draft.partition,
        "type": type(part.value).__name__,
        "docVersion": DOC_VERSION,
        "updatedAt": utc_text(draft.now),
    }
    return Create(body) if part.etag is None else Replace(body, part.etag)


def _is_engines(document_id: str, partition: str) -> bool:
    return document_id == partition or document_id.startswith(("op:", "out:"))
