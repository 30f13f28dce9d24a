"""What must hold of documents and settlements, whatever went wrong on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.json_text import Json
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import Document
from shared.idempotency.request_hash import same_request
from shared.testing.memory_store import MemoryStore

type Documents = Mapping[tuple[str, str], Document]
type Settled = Complete | DeadLetter


class InvariantError(AssertionError):
    """An invariant is broken; the text says which, and where."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a history leaves: all documents by partition and id, and each message's settlement, in order."""

    documents: Documents
    settled: Sequence[Settled]


def all_documents(store: MemoryStore) -> Documents:
    """The store's documents by partition and id."""
    return {
        (partition, document_id): body
        for partition in store.partitions()
        for document_id, body in store.documents(partition).items()
    }


def check_settlement[M: Message, S: State](
    consumer: Consumer[M, S], message: M, disposition: Complete | DeadLetter | Retry, marker: Document | None
) -> None:
    """A message is settled only after its commit is known, and completed only for its own request.

    Args:
        consumer: whose message it is.
        message: what was delivered.
        disposition: what became of the delivery.
        marker: the message's marker as it is stored now, None where there is none.

    Raises:
        InvariantError: the store says otherwise.
    """
    marker_id = consumer.marker_id(message)
    stored = None if marker is None else marker.get("requestHash")
    is_ours = isinstance(stored, str) and same_request(message, stored)
    match disposition:
        case Complete() if marker is None:
            raise InvariantError(f"completed as {disposition.outcome}, but marker {marker_id} is not in the store")
        case Complete() if not is_ours:
            raise InvariantError(f"completed as {disposition.outcome}, but marker {marker_id} bears another request")
        case DeadLetter() if is_ours:
            raise InvariantError(f"dead-lettered {disposition.reason}, although marker {marker_id} is in the store")
        case _:
            pass


def check_documents[M: Message, S: State](consumer: Consumer[M, S], messages: Sequence[M], result: Result) -> None:
    """Every marker belongs to a completed message, and a partition's events are numbered 1, 2, 3, ...

    Raises:
        InvariantError: a marker without its message, or a number missing, doubled or not counted by the state.
    """
    taken_in = {
        (consumer.partition_of(message), consumer.marker_id(message))
        for message, settled in zip(messages, result.settled, strict=True)
        if isinstance(settled, Complete)
    }
    for place, body in result.documents.items():
        if body.get("type") == "operation" and place not in taken_in:
            raise InvariantError(f"orphan marker {place[1]} in {place[0]}: no message that was completed has it")
    for partition in {partition for partition, _ in result.documents}:
        _check_numbers(partition, {key: body for (at, key), body in result.documents.items() if at == partition})


def _check_numbers(partition: str, documents: Mapping[str, Document]) -> None:
    written = sorted(int(key.removeprefix("out:")) for key in documents if key.startswith("out:"))
    if written != list(range(1, len(written) + 1)):
        raise InvariantError(f"outbox documents of {partition} are numbered {written}, not 1 to {len(written)}")
    if written and partition not in documents:
        raise InvariantError(f"{partition} has outbox documents, but no state document")
    counted = documents.get(partition, {}).get("outboxSequence", 0)
    if counted != len(written):
        raise InvariantError(f"state of {partition} counts {counted} outbox documents, the store holds {len(written)}")
    sent_as = [_message_of(body).get("messageId") for key, body in documents.items() if key.startswith("out:")]
    if len(set(map(str, sent_as))) != len(sent_as):
        raise InvariantError(f"outbox documents of {partition} share a messageId")


def check_same(expected: Result, found: Result) -> None:
    """The result is that of the history in which nothing went wrong, but for times and attempt ids.

    Raises:
        InvariantError: names the first message or document that differs, and how.
    """
    for number, (wanted, got) in enumerate(zip(expected.settled, found.settled, strict=True), start=1):
        # "applied" becomes "duplicate" where a crash lay between commit and settlement: both are completions.
        if wanted != got and not (isinstance(wanted, Complete) and isinstance(got, Complete)):
            raise InvariantError(f"message {number} is settled as {got}, without a fault as {wanted}")
    wanted_documents = {place: _comparable(body) for place, body in expected.documents.items()}
    found_documents = {place: _comparable(body) for place, body in found.documents.items()}
    for partition, key in sorted(wanted_documents.keys() | found_documents.keys()):
        before, after = wanted_documents.get((partition, key)), found_documents.get((partition, key))
        if before is None or after is None:
            raise InvariantError(f"document {key} of {partition} is {'surplus' if before is None else 'missing'}")
        if difference := _difference("", before, after):
            raise InvariantError(f"document {key} of {partition} differs: {difference}")


_VARIABLE = frozenset({"attemptId", "createdAt", "updatedAt", "appliedAt", "readySince"})


def _comparable(body: Document) -> Document:
    fields = {name: value for name, value in body.items() if name not in _VARIABLE}
    if body.get("type") != "outbox":
        return fields
    message = _message_of(body)
    event = message.get("body")
    # The hash in an event's MessageId covers the event's time.
    return {
        **fields,
        "message": {
            **message,
            "messageId": str(message.get("messageId")).partition("~")[0],
            "body": {name: value for name, value in event.items() if name != "time"}
            if isinstance(event, dict)
            else event,
        },
    }


def _message_of(body: Document) -> Document:
    message = body.get("message")
    return message if isinstance(message, dict) else {}


def _difference(path: str, wanted: Json, got: Json) -> str | None:
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in sorted(wanted.keys() | got.keys()):
            inner = f"{path}.{name}" if path else name
            if name not in got:
                return f"{inner} is missing"
            if name not in wanted:
                return f"{inner} is surplus"
            if found := _difference(inner, wanted[name], got[name]):
                return found
        return None
    return None if wanted == got else f"{path} is {got!r:.200}, without a fault {wanted!r:.200}"
