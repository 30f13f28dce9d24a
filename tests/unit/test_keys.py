"""Identifiers and the MessageId grammar `key ~ h [~ suffix]`."""

import pytest

from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.keys import (
    MessageKey,
    check_identifier,
    check_message_id,
    check_session_id,
    hash_prefix,
    is_identifier,
    message_id_of,
    parse_message_id,
)

HASH = "v1:0123456789abcdef" + "f" * 48
H = "0123456789abcdef"


@pytest.mark.parametrize("text", ["A", "0", "a.b_c-d", "ORD-1", "ord-1", "9" * 100, "a..", "a-"])
def test_an_identifier(text: str) -> None:
    assert is_identifier(text)


NOT_ASCII = ["é", "e\u0301", "a\u00a0", "\u0661", "\uff21"]
PUNCTUATED = [f"a{mark}b" for mark in " /\\?#~:%'\"@+,;=&|<>(){}[]*!$^`\x00\t\n\r"]


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", ".a", "_a", "-a", "9" * 101, " a", "a ", "a\n", "\na", "a\r", *PUNCTUATED, *NOT_ASCII],
)
def test_not_an_identifier(text: str) -> None:
    assert not is_identifier(text)


@pytest.mark.parametrize(
    ("message_id", "key", "prefix"),
    [
        ("A1", "A1", None),
        (f"A1~{H}", "A1", H),
        (f"A1~{H}~b12", "A1", H),
        (f"A1~{H}~copy1", "A1", H),
        (f"A1~{H}~r1~r2", "A1", H),
        (f"A1~{H.upper()}", "A1", None),
        (f"A1~{H[:15]}", "A1", None),
        (f"A1~{H}0", "A1", None),
        (f"A1~x~{H}", "A1", None),
        (f"A1~{H}\n", "A1", None),
        ("A1~", "A1", None),
        (f"~{H}", "", H),
        ("", "", None),
        ("~~", "", None),
    ],
)
def test_a_message_id_is_split_at_its_tildes(message_id: str, key: str, prefix: str | None) -> None:
    assert parse_message_id(message_id) == MessageKey(key, prefix)


def test_a_message_id_is_the_key_and_the_first_16_hex_digits() -> None:
    assert hash_prefix(HASH) == "0123456789abcdef"
    assert message_id_of("A1", HASH) == "A1~0123456789abcdef"


def test_an_identifier_is_named_when_it_is_refused() -> None:
    check_identifier("orderId", "A1")
    with pytest.raises(PermanentError) as caught:
        check_identifier("orderId", "A/1")
    assert caught.value.reason == DeadLetterReason.INVALID_IDENTIFIER
    assert caught.value.description == (
        "orderId: must be 1 to 100 characters of A-Z a-z 0-9 . _ -, the first a letter or digit"
    )


@pytest.mark.parametrize("message_id", ["A1", f"A1~{H}", f"A1~{H}~copy1", "A1~", "A1~something~else"])
def test_a_message_id_that_fits_its_body(message_id: str) -> None:
    check_message_id(message_id, key="A1", request_hash=HASH)


@pytest.mark.parametrize(
    ("message_id", "description"),
    [
        ("A2", "MessageId: what stands before the first ~ must be the body's key"),
        ("a1", "MessageId: what stands before the first ~ must be the body's key"),
        ("", "MessageId: what stands before the first ~ must be the body's key"),
        (" A1", "MessageId: what stands before the first ~ must be the body's key"),
        (f"A2~{H}", "MessageId: what stands before the first ~ must be the body's key"),
        ("A1~" + "0" * 16, "MessageId: the 16 hex digits after ~ must be the body's request hash"),
        ("A1~" + "0" * 16 + "~copy1", "MessageId: the 16 hex digits after ~ must be the body's request hash"),
    ],
)
def test_a_message_id_that_does_not_fit_its_body(message_id: str, description: str) -> None:
    with pytest.raises(PermanentError) as caught:
        check_message_id(message_id, key="A1", request_hash=HASH)
    assert (caught.value.reason, caught.value.description) == (DeadLetterReason.MESSAGE_ID_MISMATCH, description)


def test_a_session_id_is_the_partition() -> None:
    check_session_id("A1", partition="A1")


@pytest.mark.parametrize("session_id", [None, "", "A2", "a1", "A1 "])
def test_a_session_id_that_is_not_the_partition(session_id: str | None) -> None:
    with pytest.raises(PermanentError) as caught:
        check_session_id(session_id, partition="A1")
    assert caught.value.reason == DeadLetterReason.SESSION_ID_MISMATCH
    assert caught.value.description == "SessionId: must be the body's partition key value"
