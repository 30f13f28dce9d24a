"""A whole ledger cut into parts, each as much as one message carries.

The same lines give the same parts, whoever cuts: a ledger that is posted again is the same messages again.
"""

from collections.abc import Iterator, Sequence

import msgspec

from ordering.ledgers.lines import Line
from ordering.ledgers.parts import PART_BYTES_MAX, PART_OPERATIONS_MAX, PARTS_MAX, LedgerPart, ledger_part
from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import to_document
from shared.idempotency.request_hash import request_hash
from shared.outbox.outgoing import OutgoingMessage

_HEADER_BYTES = 512
"""More than a part's own fields take: two identifiers of 100 characters, their names, and two numbers."""


def parts_of(ledger_id: str, source: str, lines: Sequence[Line]) -> list[LedgerPart]:
    """Cut a ledger, in order.

    Raises:
        PermanentError: `PayloadTooLarge`, it would be more than `PARTS_MAX` parts.
    """
    groups = list(_groups(lines))
    if len(groups) > PARTS_MAX:
        raise PermanentError(
            DeadLetterReason.PAYLOAD_TOO_LARGE, f"ledger: would be {len(groups)} parts, the limit is {PARTS_MAX}"
        )
    return [ledger_part(ledger_id, source, number, len(groups), group) for number, group in enumerate(groups, 1)]


def part_messages(ledger_id: str, source: str, lines: Sequence[Line], traceparent: str | None) -> list[OutgoingMessage]:
    """The messages of a ledger's parts for the queue `ledgers`, in order.

    Raises:
        PermanentError: as `parts_of`.
    """
    return [_message(part, traceparent) for part in parts_of(ledger_id, source, lines)]


def _message(part: LedgerPart, traceparent: str | None) -> OutgoingMessage:
    return OutgoingMessage(
        message_id=message_id_of(part.key, request_hash(part)),
        session_id=str(part.source),
        body=msgspec.json.encode(to_document(part)),
        subject="LedgerPart",
        traceparent=traceparent,
    )


def _groups(lines: Sequence[Line]) -> Iterator[list[Line]]:
    group, size = list[Line](), _HEADER_BYTES
    for line in lines:
        wanted = len(line.body) + 1  # its comma
        if group and (size + wanted > PART_BYTES_MAX or len(group) == PART_OPERATIONS_MAX):
            yield group
            group, size = [], _HEADER_BYTES
        group.append(line)
        size += wanted
    if group:
        yield group
