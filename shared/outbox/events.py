"""Integration events as CloudEvents 1.0 in outbox messages.

Source: CloudEvents 1.0.2, and its extensions `sequence` and `partitionkey`.
"""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import msgspec

from shared.idempotency.canonical_json import canonical_text
from shared.idempotency.consumer import OutboxMessage
from shared.idempotency.json_text import Json
from shared.idempotency.keys import HASH_PREFIX_LENGTH
from shared.idempotency.messages import Event, to_document, utc_text


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStream:
    """Where a consumer's events go, and under which name.

    Attributes:
        destination: topic.
        source: first part of the CloudEvents source, such as `/orders`; the epoch follows.
    """

    destination: str
    source: str

    def write(self, event: Event, *, partition: str, number: int, time: datetime, epoch: int) -> OutboxMessage:
        """Wrap an event; the same arguments give the same message, MessageId included.

        Args:
            event: becomes `data`; its class name becomes `type`.
            partition: becomes `subject`, SessionId and the first half of the id.
            number: of the event within its partition, from 1; the second half of the id, and `sequence`.
            time: when the state change was decided.
            epoch: ends the source; raised after a restore that lost data, so that reused ids are told apart.
        """
        identity = f"{partition}:{number}"
        cloud_event: dict[str, Json] = {
            "specversion": "1.0",
            "id": identity,
            "source": f"{self.source}/{epoch}",
            "type": type(event).__name__,
            "subject": partition,
            "time": utc_text(time),
            "sequence": f"{number:010d}",
            "partitionkey": partition,
            "datacontenttype": "application/json",
            "data": to_document(event),
        }
        digest = sha256(canonical_text(cloud_event)).hexdigest()[:HASH_PREFIX_LENGTH]
        return OutboxMessage(
            destination=self.destination,
            message={
                "messageId": f"{identity}~{digest}",
                "sessionId": partition,
                "subject": type(event).__name__,
                "contentType": "application/cloudevents+json",
                "body": cloud_event,
            },
            size_bytes=len(msgspec.json.encode(cloud_event)),
        )
