"""What a decision writes, document by document and field by field."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.idempotency.consumer import Consumer, OutboxMessage
from shared.idempotency.decisions import Apply, Ignore
from shared.idempotency.draft import Composed, Draft
from shared.idempotency.messages import Event, Message, State
from shared.idempotency.ports import Create, Delete, Document, Replace, StoredDocument, Write, written_id
from shared.idempotency.run import Run
from tests.unit.example_consumers import (
    ACCOUNTS,
    LOYALTY,
    Account,
    AccountOpened,
    AccountTold,
    OwnerChanged,
    Points,
    PointsAdded,
    PointsGranted,
    changed,
    grant,
    opened,
)

NOW = datetime(2024, 2, 29, 12, 0, 0, 500_000, tzinfo=UTC)
NOW_TEXT = "2024-02-29T12:00:00.5Z"


class PlainEvents:
    """An event writer that shows what it was given."""

    def write(self, event: Event, *, partition: str, number: int, time: datetime, epoch: int) -> OutboxMessage:
        message: Document = {"messageId": f"{partition}:{number}@{epoch}", "time": time.isoformat()}
        return OutboxMessage(destination="topic", message=message, size_bytes=1000 + number)


POINTS: Consumer[PointsGranted, Points] = replace(LOYALTY, events=PlainEvents())
OPENED: Consumer[AccountOpened | OwnerChanged, Account] = replace(ACCOUNTS, events=PlainEvents())


def run_of[M: Message](message: M, *, key: str, partition: str, traceparent: str | None = None) -> Run[M]:
    return Run(
        message=message,
        key=key,
        partition=partition,
        request_hash="v1:abc",
        attempt_id="attempt-1",
        traceparent=traceparent,
        event_epoch=3,
    )


def compose[M: Message, S: State](
    consumer: Consumer[M, S], run: Run[M], decision: Apply[S] | Ignore, stored: StoredDocument | None, now: datetime
) -> Composed:
    draft = Draft.of(consumer, run.partition, stored, now, {})
    return (draft.apply(run, decision) if isinstance(decision, Apply) else draft.ignore(run)).composed()


def body_of(write: Write) -> Document:
    assert not isinstance(write, Delete)
    return write.body


GRANT = run_of(grant("g1", points=5), key="g1", partition="c1", traceparent="00-aa-bb-01")

MARKER: Document = {
    "id": "op:g1",
    "customerId": "c1",
    "type": "operation",
    "docVersion": 1,
    "state": "applied",
    "requestHash": "v1:abc",
    "attemptId": "attempt-1",
    "payload": {
        "type": "PointsGranted",
        "schemaVersion": 1,
        "grantId": "g1",
        "customerId": "c1",
        "points": 5,
        "note": None,
    },
    "appliedAt": NOW_TEXT,
}


def outbox(number: int, message_id: str, traceparent: str | None = "00-aa-bb-01") -> Document:
    return {
        "id": f"out:{number}",
        "customerId": "c1",
        "type": "outbox",
        "docVersion": 1,
        "destination": "topic",
        "message": {"messageId": message_id, "time": "2024-02-29T12:00:00.500000+00:00"},
        "traceparent": traceparent,
        "status": "ready",
        "readySince": NOW_TEXT,
    }


def test_what_is_ignored_leaves_its_marker_alone() -> None:
    assert compose(POINTS, GRANT, Ignore("nothing"), None, NOW) == Composed((Create(MARKER),), 0)


def test_the_first_operation_creates_marker_state_and_events() -> None:
    decision = Apply(Points("c1", 5), [PointsAdded("c1", 2), PointsAdded("c1", 3)])
    assert compose(POINTS, GRANT, decision, None, NOW) == Composed(
        (
            Create(MARKER),
            Create(
                {
                    "customerId": "c1",
                    "total": 5,
                    "id": "c1",
                    "type": "Points",
                    "docVersion": 1,
                    "eventSequence": 2,
                    "outboxSequence": 2,
                    "createdAt": NOW_TEXT,
                    "updatedAt": NOW_TEXT,
                }
            ),
            Create(outbox(1, "c1:1@3")),
            Create(outbox(2, "c1:2@3")),
        ),
        1002,
    )


def test_a_later_operation_replaces_the_state_and_goes_on_counting() -> None:
    stored = StoredDocument(
        {
            "id": "c1",
            "customerId": "c1",
            "total": 5,
            "type": "Points",
            "docVersion": 1,
            "eventSequence": 7,
            "outboxSequence": 9,
            "createdAt": "2020-01-01T00:00:00Z",
            "updatedAt": "2020-01-02T00:00:00Z",
        },
        '"etag-1"',
    )
    composed = compose(POINTS, GRANT, Apply(Points("c1", 10), (PointsAdded("c1", 5),)), stored, NOW)
    assert composed.writes == (
        Create(MARKER),
        Replace(
            {
                "customerId": "c1",
                "total": 10,
                "id": "c1",
                "type": "Points",
                "docVersion": 1,
                "eventSequence": 8,
                "outboxSequence": 10,
                "createdAt": "2020-01-01T00:00:00Z",
                "updatedAt": NOW_TEXT,
            },
            '"etag-1"',
        ),
        Create(outbox(10, "c1:8@3")),
    )


def test_an_operation_without_events_leaves_the_numbers() -> None:
    stored = StoredDocument({"id": "c1", "eventSequence": 7, "outboxSequence": 9, "createdAt": "then"}, '"1"')
    composed = compose(POINTS, GRANT, Apply(Points("c1", 10)), stored, NOW)
    assert composed.message_bytes_max == 0
    assert len(composed.writes) == 2
    body = body_of(composed.writes[1])
    assert (body["eventSequence"], body["outboxSequence"], body["createdAt"]) == (7, 9, "then")


def test_what_creates_the_state_is_marked_by_it() -> None:
    run = run_of(opened("a1", owner="Ada"), key="a1", partition="a1")
    composed = compose(OPENED, run, Apply(Account("a1", "Ada"), (AccountTold("a1", "Ada"),)), None, NOW)
    assert composed.writes[0] == Create(
        {
            "accountId": "a1",
            "owner": "Ada",
            "id": "a1",
            "type": "Account",
            "docVersion": 1,
            "eventSequence": 1,
            "outboxSequence": 1,
            "createdAt": NOW_TEXT,
            "updatedAt": NOW_TEXT,
            "requestHash": "v1:abc",
            "attemptId": "attempt-1",
        }
    )
    assert [written_id(write) for write in composed.writes] == ["a1", "out:1"]
    assert body_of(composed.writes[1])["traceparent"] is None


def test_the_marks_of_the_creating_message_stay_for_ever() -> None:
    placed: Document = {"id": "a1", "requestHash": "v1:first", "attemptId": "attempt-0", "createdAt": "then"}
    run = run_of(changed("x1", account="a1"), key="x1", partition="a1")
    composed = compose(OPENED, run, Apply(Account("a1", "Bob")), StoredDocument(placed, '"1"'), NOW)
    assert body_of(composed.writes[0])["id"] == "op:x1"
    assert body_of(composed.writes[0])["requestHash"] == "v1:abc"
    assert body_of(composed.writes[1])["requestHash"] == "v1:first"
    assert body_of(composed.writes[1])["attemptId"] == "attempt-0"


@pytest.mark.parametrize("events", [0, 1, 98])
def test_the_first_write_is_the_marker(events: int) -> None:
    decision = Apply(Points("c1", 5), [PointsAdded("c1", 1)] * events)
    writes = compose(POINTS, GRANT, decision, None, NOW).writes
    assert len(writes) == 2 + events
    assert writes[0] == Create(MARKER)
