"""A message that holds messages, read; and the document that says how far it was sent on.

{"id": "part:3", "ledgerId": "2009-12-01", "type": "LedgerPart", "docVersion": 1, ...,
"requestHash": "v1:...", "state": "sending", "sent": 400, "total": 777, "createdAt": ..., "updatedAt": ...}

state     sending     `sent` of `total` messages are known to be accepted
sent        all are
rejected    nothing was sent: `faults` [{"line": 3, "fault": "..."}] says why; no requestHash
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.idempotency.consumer import DOC_VERSION
from shared.idempotency.json_text import Json
from shared.idempotency.messages import Message, utc_text
from shared.idempotency.ports import Document
from shared.outbox.outgoing import OutgoingMessage

FAULT_LENGTH_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line.

    Attributes:
        line: its number, from 1.
        text: the first rule that it breaks, and the field.
    """

    line: int
    text: str

    def as_json(self) -> dict[str, Json]:
        """As it is stored and answered: of bounded length, whatever the line holds."""
        return {"line": self.line, "fault": self.text[:FAULT_LENGTH_MAX]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A message that holds messages.

    Attributes:
        key: its key.
        partition: partition key value of its document.
        fields: of its document: id, partition key, type, and what the reader wants to see there.
        total: how many messages it holds.
        message: the whole; None where a line has a fault.
        request_hash: its hash; None where a line has a fault.
        messages: to send on, in order; none where a line has a fault.
        faults: of its lines.
    """

    key: str
    partition: str
    fields: Document
    total: int
    message: Message | None = None
    request_hash: str | None = None
    messages: Sequence[OutgoingMessage] = ()
    faults: Sequence[Fault] = ()

    @property
    def document_id(self) -> str:
        """Id of its document."""
        return str(self.fields["id"])

    def sent(self, count: int, now: datetime, earlier: Document | None) -> Document:
        """Its document once so many messages are known to be accepted."""
        return self._document(
            now,
            earlier,
            requestHash=self.request_hash,
            state="sent" if count == self.total else "sending",
            sent=count,
        )

    def rejected(self, now: datetime, earlier: Document | None) -> Document:
        """Its document once it is refused for its faults."""
        return self._document(now, earlier, state="rejected", sent=0, faults=[fault.as_json() for fault in self.faults])

    def _document(self, now: datetime, earlier: Document | None, **fields: Json) -> Document:
        stamp = utc_text(now)
        return {
            **self.fields,
            "docVersion": DOC_VERSION,
            **fields,
            "total": self.total,
            "createdAt": (earlier or {}).get("createdAt", stamp),
            "updatedAt": stamp,
        }
