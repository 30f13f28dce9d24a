"""One log line per delivery, with ids in the text: the Functions console carries the text alone.

    disposition=complete outcome=applied consumer=orders key=489434 partition=489434 sequence=1 \
message_id=489434~5f... sequence_number=12 delivery_count=1 hash=5f...

Never a body, a key of an account, or a description of what a body held.
Source: measured on the Functions host 4.1037: a record's attributes and its logger's name are not printed.
"""

import logging
import re
from typing import Final, assert_never

from shared.idempotency.disposition import Complete, DeadLetter, Handled, Retry
from shared.idempotency.keys import hash_prefix
from shared.idempotency.ports import Delivery

_log = logging.getLogger(__name__)
_TRACEPARENT: Final = re.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_UNPRINTABLE: Final = re.compile(r"[^\x21-\x7e]")
_VALUE_LENGTH_MAX: Final = 160


def traceparent_of(text: str | None) -> str | None:
    """The W3C trace context, if that is what the text is: anything else is not worth to be stored and sent on."""
    return text if text is not None and _TRACEPARENT.fullmatch(text) else None


def quiet_sdks() -> None:
    """Let the Azure SDKs log from warning on: at info they write several lines for each request and link."""
    logging.getLogger("azure").setLevel(logging.WARNING)


def log_disposition(consumer: str, delivery: Delivery, handled: Handled) -> None:
    """Write the line of one delivery: info, or warning for a dead letter, or error where a person must act."""
    match handled.disposition:
        case Complete(outcome):
            level, disposition = logging.INFO, "complete"
        case DeadLetter(outcome, _):
            level, disposition = logging.WARNING, "dead-letter"
        case Retry(outcome, alert):
            level, disposition = logging.ERROR if alert else logging.WARNING, "retry"
        case _:
            assert_never(handled.disposition)
    fields = {
        "disposition": disposition,
        "outcome": outcome,
        "consumer": consumer,
        "key": handled.key,
        "partition": handled.partition,
        "sequence": handled.sequence,
        "message_id": delivery.message_id,
        "sequence_number": delivery.sequence_number,
        "delivery_count": delivery.delivery_count,
        "hash": None if handled.request_hash is None else hash_prefix(handled.request_hash),
        **handled.figures,
    }
    _log.log(level, "%s", " ".join(f"{name}={_value(value)}" for name, value in fields.items()), extra=fields)


def _value(value: object) -> str:
    """One word: ids of foreign messages may hold anything, line breaks included."""
    if value is None or value == "":
        return "-"
    return _UNPRINTABLE.sub("_", str(value))[:_VALUE_LENGTH_MAX]
