"""The line of a delivery: ids in one word each, the level by what a person must do, never a body."""

import logging

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, Disposition, Handled, Retry
from shared.idempotency.ports import Delivery
from shared.telemetry import log_disposition, quiet_sdks, traceparent_of

BODY = b'{"customerId":"a secret"}'
HASH = "v1:0123456789abcdef" + "0" * 48


def delivery(message_id: str = "k1~0123456789abcdef") -> Delivery:
    return Delivery(message_id=message_id, session_id="p1", sequence_number=12, delivery_count=3, body=BODY)


def line(caplog: pytest.LogCaptureFixture, handled: Handled, of: Delivery | None = None) -> tuple[int, str]:
    with caplog.at_level(logging.INFO):
        log_disposition("orders", of or delivery(), handled)
    (record,) = caplog.records
    return record.levelno, record.getMessage()


@pytest.mark.parametrize(
    ("disposition", "level", "words"),
    [
        (Complete("applied"), logging.INFO, "disposition=complete outcome=applied"),
        (Complete("duplicate"), logging.INFO, "disposition=complete outcome=duplicate"),
        (DeadLetter("NotPositive", "points: a secret"), logging.WARNING, "disposition=dead-letter outcome=NotPositive"),
        (Retry("read: status 503"), logging.WARNING, "disposition=retry outcome=read:_status_503"),
        (
            Retry("store access denied 403", alert=True),
            logging.ERROR,
            "disposition=retry outcome=store_access_denied_403",
        ),
    ],
)
def test_a_line(caplog: pytest.LogCaptureFixture, disposition: Disposition, level: int, words: str) -> None:
    assert line(caplog, Handled(disposition, "k1", "p1", HASH)) == (
        level,
        f"{words} consumer=orders key=k1 partition=p1 sequence=- message_id=k1~0123456789abcdef sequence_number=12 "
        "delivery_count=3 hash=0123456789abcdef",
    )


def test_what_could_not_be_read_is_a_dash(caplog: pytest.LogCaptureFixture) -> None:
    handled = Handled(DeadLetter("MalformedMessage", "body: a secret"))
    assert line(caplog, handled, delivery(""))[1] == (
        "disposition=dead-letter outcome=MalformedMessage consumer=orders key=- partition=- sequence=- message_id=- "
        "sequence_number=12 delivery_count=3 hash=-"
    )


def test_a_foreign_id_stays_one_word(caplog: pytest.LogCaptureFixture) -> None:
    _, text = line(caplog, Handled(Complete("applied")), delivery("a b\n\tdisposition=é\u202e" + "x" * 300))
    (word,) = [part for part in text.split(" ") if part.startswith("message_id=")]
    assert word == "message_id=" + ("a_b__disposition=__" + "x" * 300)[:160]
    assert "\n" not in text


def test_the_record_has_the_ids_as_attributes_too(caplog: pytest.LogCaptureFixture) -> None:
    line(caplog, Handled(Complete("applied"), "k1", "p1", HASH))
    record = vars(caplog.records[0])
    assert (record["key"], record["sequence_number"], record["delivery_count"]) == ("k1", 12, 3)
    assert "a secret" not in str(record)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", True),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", False),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n", False),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", False),
        ("x" * 60_000, False),
        ("", False),
        (None, False),
    ],
)
def test_only_a_trace_context_is_one(text: str | None, is_one: bool) -> None:
    assert traceparent_of(text) == (text if is_one else None)


def test_the_sdks_log_from_warning_on() -> None:
    logger = logging.getLogger("azure")
    level = logger.level
    try:
        logger.setLevel(logging.NOTSET)
        quiet_sdks()
        assert not logging.getLogger("azure.core.pipeline").isEnabledFor(logging.INFO)
        assert logging.getLogger("azure.servicebus").isEnabledFor(logging.WARNING)
    finally:
        logger.setLevel(level)
