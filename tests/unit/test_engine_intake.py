"""What never reaches the store: messages that cannot be read, or whose ids are not their body's."""

import gzip
from dataclasses import replace

import pytest

from shared.idempotency.consumer import Consumer, StateDocuments
from shared.idempotency.disposition import DeadLetter, Handled
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import Delivery
from shared.outbox.events import EventStream
from shared.testing.deliveries import delivery_of
from tests.unit.example_consumers import LOYALTY, Points, PointsGranted, grant
from tests.unit.scripted_store import Bench

RULE = "must be 1 to 100 characters of A-Z a-z 0-9 . _ -, the first a letter or digit"


async def refused(delivery: Delivery, bench: Bench[PointsGranted, Points] | None = None) -> DeadLetter:
    bench = bench or Bench(LOYALTY)
    handled = await bench.take(delivery)
    assert bench.store.calls == []
    assert isinstance(handled.disposition, DeadLetter)
    assert handled == Handled(handled.disposition)
    return handled.disposition


def with_body(body: bytes | None) -> Delivery:
    return replace(delivery_of(LOYALTY, grant("g1")), body=body)


@pytest.mark.parametrize(
    ("body", "reason", "description"),
    [
        (None, "MalformedMessage", "body: must be AMQP data, not a value or sequence"),
        (b"", "MalformedMessage", "body: Expecting value at line 1, column 1"),
        (gzip.compress(b"{}", mtime=0), "MalformedMessage", "body: not UTF-8 at byte 1"),
        (b'{"type":"\xff"}', "MalformedMessage", "body: not UTF-8 at byte 9"),
        (b"[" * 100_000, "MalformedMessage", "body: nested deeper than 32 levels"),
        (b"1" * 5000, "MalformedMessage", "body: an integer lies beyond 2^53 - 1; send it as a string"),
        (b'{"type":"PointsGranted","points":1,"points":2}', "MalformedMessage", "body: duplicate key 'points'"),
        (b"[]", "InvalidMessage", "body: must be a JSON object"),
        (b'"text"', "InvalidMessage", "body: must be a JSON object"),
        (b"{}", "InvalidMessage", "type: is missing"),
        (b" " * 131_073, "PayloadTooLarge", "body: 131073 bytes, the limit is 131072 bytes"),
        (
            b'{"type":"PointsGranted","schemaVersion":2}',
            "UnknownSchemaVersion",
            "schemaVersion: 2 is newer than 1; upgrade this app, then resubmit",
        ),
        (
            b'{"type":"PointsGranted","customerId":"c1","points":5}',
            "InvalidMessage",
            "Object missing required field `grantId`",
        ),
    ],
)
async def test_a_body_that_cannot_be_read(body: bytes | None, reason: str, description: str) -> None:
    assert await refused(with_body(body)) == DeadLetter(reason, description)


@pytest.mark.parametrize("name", ["messageId", "sessionId", "State", "DeliveryCount", "ExpiresAtUtc", "sentAt"])
async def test_what_belongs_to_the_broker_is_no_field_of_the_body(name: str) -> None:
    body = b'{"type":"PointsGranted","grantId":"g1","customerId":"c1","points":5,"%s":"x"}' % name.encode()
    assert await refused(with_body(body)) == DeadLetter("InvalidMessage", f"Object contains unknown field `{name}`")


@pytest.mark.parametrize("message_id", ["", "g2", "G1", " g1", "g2~0123456789abcdef", "~0123456789abcdef"])
async def test_a_message_id_with_another_key(message_id: str) -> None:
    assert await refused(replace(delivery_of(LOYALTY, grant("g1")), message_id=message_id)) == DeadLetter(
        "MessageIdMismatch", "MessageId: what stands before the first ~ must be the body's key"
    )


async def test_a_message_id_with_another_hash() -> None:
    other = delivery_of(LOYALTY, grant("g1", points=6)).message_id
    assert await refused(replace(delivery_of(LOYALTY, grant("g1")), message_id=other)) == DeadLetter(
        "MessageIdMismatch", "MessageId: the 16 hex digits after ~ must be the body's request hash"
    )


@pytest.mark.parametrize("session_id", [None, "", " ", "c2", "C1", "c1 ", "x" * 128])
async def test_a_session_id_of_another_partition(session_id: str | None) -> None:
    assert await refused(replace(delivery_of(LOYALTY, grant("g1")), session_id=session_id)) == DeadLetter(
        "SessionIdMismatch", "SessionId: must be the body's partition key value"
    )


class Noted(Message, frozen=True, kw_only=True):
    note_id: str
    book_id: str


class Book(State, frozen=True):
    book_id: str


NOTES: Consumer[Noted, Book] = Consumer(
    name="notes",
    queue="notes",
    message=Noted,
    key=lambda noted: noted.note_id,
    documents=StateDocuments(state=Book, container="books", partition_key="/bookId"),
    decide=lambda book, noted: (_ for _ in ()).throw(AssertionError("must not be decided")),
    events=EventStream(destination="t", source="/notes"),
)

ILLEGAL = ["", ".", "a/b", "a\\b", "a?b", "a#b", "a\nb", "a ", "%2F", "x" * 101, "x" * 1024, "é", "e\u0301", "a~b"]


@pytest.mark.parametrize("text", ILLEGAL)
async def test_ids_that_the_platform_does_not_carry_are_refused_whatever_the_field_type(text: str) -> None:
    bench = Bench(NOTES)
    by_key = await bench.handle(Noted(note_id=text, book_id="b1"))
    by_partition = await bench.handle(Noted(note_id="n1", book_id=text))
    assert by_key.disposition == DeadLetter("InvalidIdentifier", f"key: {RULE}")
    assert by_partition.disposition == DeadLetter("InvalidIdentifier", f"bookId: {RULE}")
    assert bench.store.calls == []
