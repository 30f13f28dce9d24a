"""Events as CloudEvents 1.0; the canonical JSON under the MessageId's hash is written by hand."""

import hashlib
from datetime import UTC, datetime

from shared.outbox.events import EventStream
from tests.unit.example_consumers import PointsAdded

STREAM = EventStream(destination="loyalty-events", source="/loyalty")
TIME = datetime(2024, 2, 29, 12, 0, 0, 500_000, tzinfo=UTC)

CANONICAL = (
    '{"data":{"customerId":"c1","points":5},"datacontenttype":"application/json","id":"c1:7","partitionkey":"c1",'
    '"sequence":"0000000007","source":"/loyalty/2","specversion":"1.0","subject":"c1",'
    '"time":"2024-02-29T12:00:00.5Z","type":"PointsAdded"}'
)


def test_an_event_is_wrapped_as_a_cloud_event() -> None:
    written = STREAM.write(PointsAdded("c1", 5), partition="c1", number=7, time=TIME, epoch=2)
    assert written.destination == "loyalty-events"
    assert written.message == {
        "messageId": "c1:7~" + hashlib.sha256(CANONICAL.encode()).hexdigest()[:16],
        "sessionId": "c1",
        "subject": "PointsAdded",
        "contentType": "application/cloudevents+json",
        "body": {
            "specversion": "1.0",
            "id": "c1:7",
            "source": "/loyalty/2",
            "type": "PointsAdded",
            "subject": "c1",
            "time": "2024-02-29T12:00:00.5Z",
            "sequence": "0000000007",
            "partitionkey": "c1",
            "datacontenttype": "application/json",
            "data": {"customerId": "c1", "points": 5},
        },
    }
    assert written.size_bytes == len(CANONICAL.encode())


def test_sequences_sort_as_text() -> None:
    written = [STREAM.write(PointsAdded("c", 1), partition="c", number=n, time=TIME, epoch=1) for n in (2, 10, 999)]
    sequences = [_body(item.message["body"])["sequence"] for item in written]
    assert sequences == sorted(sequences, key=str)


def test_a_later_epoch_gives_a_reused_number_another_message_id() -> None:
    first = STREAM.write(PointsAdded("c", 1), partition="c", number=1, time=TIME, epoch=1)
    second = STREAM.write(PointsAdded("c", 1), partition="c", number=1, time=TIME, epoch=2)
    assert first.message["messageId"] != second.message["messageId"]
    assert _body(first.message["body"])["id"] == _body(second.message["body"])["id"] == "c:1"


def _body(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value
