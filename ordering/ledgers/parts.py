"""Parts of a ledger, as they come from the queue `ledgers`.

    {"schemaVersion": 1, "type": "LedgerPart", "ledgerId": "2009-12-01", "source": "shop-7", "part": 1, "parts": 3,
     "operations": [{"type": "OrderPlaced", ...}, ...]}

SessionId is the source, so that one source's parts go on one after the other. MessageId is `{ledgerId}.{part}~{h}`.

Their documents: container `ledgers`, partition key `/ledgerId`, id `part:{part}`; see `shared.fan_out.bundle`.
"""

from typing import Annotated, Any, Final

import msgspec

from ordering.ledgers.lines import Line, check_lines
from ordering.orders.operations import Operation
from shared.fan_out.bundle import Bundle
from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.keys import check_message_id, check_session_id, parse_message_id
from shared.idempotency.messages import Identifier, Message, parse_message
from shared.idempotency.ports import Delivery, Document
from shared.idempotency.request_hash import request_hash

PART_BYTES_MAX: Final = 192 * 1024
"""Largest part: what a message of the Standard tier carries, its 256 KB less up to 64 KB of header.

Source: Service Bus quotas, "Maximum message size" and "Maximum message header size".
"""

PART_OPERATIONS_MAX: Final = 1_000
"""Operations of one part: with a fault in each, its document still fits the store's 2 MB."""

PARTS_MAX: Final = 1_000

type PartNumber = Annotated[int, msgspec.Meta(ge=1, le=PARTS_MAX)]


class _Part(Message, frozen=True, kw_only=True):
    """What a part says of itself.

    Attributes:
        ledger_id: names the ledger; partition of its documents.
        source: who keeps it; the session.
        part: its number, from 1.
        parts: how many parts the ledger has.
    """

    ledger_id: Identifier
    source: Identifier
    part: PartNumber
    parts: PartNumber

    def __post_init__(self) -> None:
        """Refuse a number beyond the last."""
        if self.part > self.parts:
            raise ValueError("part: must not be more than parts")

    @property
    def key(self) -> str:
        """Its key."""
        return f"{self.ledger_id}.{self.part}"


class LedgerPart(_Part, frozen=True, kw_only=True):
    """A part whose lines are all without fault."""

    operations: tuple[Operation, ...]


class _UncheckedPart(_Part, frozen=True, kw_only=True, tag="LedgerPart"):
    """A part before its lines are looked at: a faulty one must not hide the others' faults."""

    operations: Annotated[list[Any], msgspec.Meta(min_length=1, max_length=PART_OPERATIONS_MAX)]


def read_part(delivery: Delivery, body_bytes_max: int) -> Bundle:
    """Read a part.

    Args:
        delivery: of the queue `ledgers`.
        body_bytes_max: the largest message body that the queue `orders` takes, in bytes.

    Returns:
        The part with a message per operation, or with the first fault of each faulty line.

    Raises:
        PermanentError: not even the header can be read, or it is not what MessageId and SessionId say.
    """
    if delivery.body is None:
        raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, "body: must be AMQP data, not a value or sequence")
    part = parse_message(delivery.body, _UncheckedPart, bytes_max=PART_BYTES_MAX)
    check_session_id(delivery.session_id, partition=part.source)
    if parse_message_id(delivery.message_id).key != part.key:
        raise PermanentError(
            DeadLetterReason.MESSAGE_ID_MISMATCH, "MessageId: what stands before the first ~ must be ledgerId.part"
        )
    lines, faults = check_lines(enumerate(part.operations, 1), body_bytes_max=body_bytes_max)
    fields: Document = {
        "id": part_document_id(part.part),
        "ledgerId": str(part.ledger_id),
        "type": "LedgerPart",
        "source": str(part.source),
        "part": part.part,
        "parts": part.parts,
    }
    total = len(part.operations)
    if faults:
        return Bundle(key=part.key, partition=str(part.ledger_id), fields=fields, total=total, faults=faults)
    whole = ledger_part(part.ledger_id, part.source, part.part, part.parts, lines)
    hashed = request_hash(whole)
    check_message_id(delivery.message_id, key=part.key, request_hash=hashed)
    return Bundle(
        key=part.key,
        partition=str(part.ledger_id),
        fields=fields,
        total=total,
        message=whole,
        request_hash=hashed,
        messages=[line.message(delivery.traceparent) for line in lines],
    )


def ledger_part(ledger_id: str, source: str, part: int, parts: int, lines: list[Line]) -> LedgerPart:
    """A part of these lines."""
    return LedgerPart(
        ledger_id=Identifier(ledger_id),
        source=Identifier(source),
        part=part,
        parts=parts,
        operations=tuple(line.operation for line in lines),
    )


def part_document_id(part: int) -> str:
    """Id of the document of a part."""
    return f"part:{part}"
