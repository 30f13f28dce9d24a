"""The lines of a ledger: operations on orders, each checked by itself and against those before it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from ordering.orders.operations import Operation
from shared.fan_out.bundle import Fault
from shared.idempotency.errors import PermanentError
from shared.idempotency.json_text import Json
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import convert_message, to_document
from shared.idempotency.request_hash import request_hash
from shared.outbox.outgoing import OutgoingMessage


@dataclass(frozen=True, slots=True)
class Line:
    """A line that has no fault.

    Attributes:
        operation: what it says.
        request_hash: of the operation.
        body: the operation's message, as JSON.
    """

    operation: Operation
    request_hash: str
    body: bytes

    def message(self, traceparent: str | None) -> OutgoingMessage:
        """The message for the queue `orders`."""
        return OutgoingMessage(
            message_id=message_id_of(self.operation.operation_id, self.request_hash),
            session_id=self.operation.order_id,
            body=self.body,
            subject=type(self.operation).__name__,
            traceparent=traceparent,
        )


@dataclass(slots=True)
class _Seen:
    """Where in the ledger an order's operations and numbers stand."""

    operations: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    numbers: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)


def check_lines(values: Iterable[tuple[int, Json | Fault]], *, body_bytes_max: int) -> tuple[list[Line], list[Fault]]:
    """Check all lines; the first fault of each is told.

    Args:
        values: by their numbers, the lines as JSON, or the fault of one that is none.
        body_bytes_max: the largest message body that the queue's consumer takes.

    Returns:
        The lines without fault, in order, and the faults of the others.
    """
    seen, lines, faults = _Seen(), list[Line](), list[Fault]()
    for number, value in values:
        found = value if isinstance(value, Fault) else _checked(number, value, seen, body_bytes_max)
        if isinstance(found, Fault):
            faults.append(found)
        else:
            lines.append(found)
    return lines, faults


def _checked(number: int, value: Json, seen: _Seen, body_bytes_max: int) -> Line | Fault:
    try:
        operation: Operation = convert_message(value, Operation)
    except PermanentError as error:
        return Fault(number, error.description)
    body = msgspec.json.encode(to_document(operation))
    if len(body) > body_bytes_max:
        return Fault(number, f"body: {len(body)} bytes, the limit is {body_bytes_max} bytes")
    line = Line(operation, request_hash(operation), body)
    if clash := _clash(number, line, seen):
        return Fault(number, clash)
    return line


def _clash(number: int, line: Line, seen: _Seen) -> str | None:
    """What contradicts an earlier line. The same operation twice does not: the second is a duplicate."""
    operation = line.operation
    key = (operation.order_id, operation.operation_id)
    first, hashed = seen.operations.setdefault(key, (number, line.request_hash))
    if hashed != line.request_hash:
        return f"operationId: line {first} has it with other content"
    first, holder = seen.numbers.setdefault((operation.order_id, operation.sequence), (number, operation.operation_id))
    return None if holder == operation.operation_id else f"sequence: line {first} has it for another operation"
