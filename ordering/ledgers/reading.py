"""A whole ledger as it is posted: a JSON array of operations, or NDJSON with one operation a line."""

import codecs

from ordering.ledgers.lines import Line, check_lines
from shared.fan_out.bundle import Fault
from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.json_text import Json, JsonTextError, read_json


def read_ledger(body: bytes, *, body_bytes_max: int) -> tuple[list[Line], list[Fault]]:
    """Read and check a ledger. Blank lines of NDJSON are passed over, and counted.

    Args:
        body: UTF-8; what begins with `[` is an array.
        body_bytes_max: the largest message body that the queue `orders` takes, in bytes.

    Returns:
        The lines without fault, in order, and the first fault of each other line.

    Raises:
        PermanentError: an array that is not JSON, a byte order mark, or no operation at all.
    """
    if body.startswith(codecs.BOM_UTF8):
        raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, "body: begins with a byte order mark")
    values = _array(body) if body.lstrip()[:1] == b"[" else _lines(body)
    if not values:
        raise PermanentError(DeadLetterReason.INVALID_MESSAGE, "body: must have at least one operation")
    return check_lines(values, body_bytes_max=body_bytes_max)


def _array(body: bytes) -> list[tuple[int, Json | Fault]]:
    try:
        values = read_json(body)
    except JsonTextError as error:
        raise PermanentError(DeadLetterReason.MALFORMED_MESSAGE, f"body: {error}") from None
    return [*enumerate(values, 1)] if isinstance(values, list) else []


def _lines(body: bytes) -> list[tuple[int, Json | Fault]]:
    return [(number, _line(number, text)) for number, text in enumerate(body.split(b"\n"), 1) if text.strip()]


def _line(number: int, text: bytes) -> Json | Fault:
    try:
        return read_json(text)
    except JsonTextError as error:
        return Fault(number, f"body: {error}")
