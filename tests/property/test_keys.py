"""Laws of identifiers and of the MessageId grammar."""

import string

from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.errors import PermanentError
from shared.idempotency.keys import (
    MessageKey,
    check_message_id,
    is_identifier,
    message_id_of,
    parse_message_id,
)
from tests.property.strategies import identifiers

hashes = st.text("0123456789abcdef", min_size=64, max_size=64).map("v1:".__add__)
suffixes = st.from_regex(r"\A(b[0-9]{1,3}|r[0-9]{1,3}|copy[0-9]{1,3})\Z")


@given(identifiers, hashes)
def test_a_message_id_gives_back_what_it_was_made_of(key: str, request_hash: str) -> None:
    assert parse_message_id(message_id_of(key, request_hash)) == MessageKey(key, request_hash[3:19])


@given(identifiers, hashes, st.lists(suffixes, max_size=3))
def test_suffixes_change_neither_key_nor_hash(key: str, request_hash: str, ends: list[str]) -> None:
    message_id = "~".join([message_id_of(key, request_hash), *ends])
    assert parse_message_id(message_id) == MessageKey(key, request_hash[3:19])
    check_message_id(message_id, key=key, request_hash=request_hash)


@given(identifiers, hashes)
def test_a_message_id_fits_the_broker(key: str, request_hash: str) -> None:
    # Service Bus takes 128 characters; what is left is for suffixes.
    assert len(message_id_of(key, request_hash)) <= 117


@given(st.text())
def test_every_text_is_a_message_id_of_some_key(text: str) -> None:
    said = parse_message_id(text)
    assert text == said.key or text.startswith(f"{said.key}~")
    assert "~" not in said.key


@given(identifiers, hashes, hashes)
def test_another_hash_is_never_accepted(key: str, sent: str, computed: str) -> None:
    try:
        check_message_id(message_id_of(key, sent), key=key, request_hash=computed)
    except PermanentError:
        assert sent[3:19] != computed[3:19]
    else:
        assert sent[3:19] == computed[3:19]


@given(st.text(max_size=120) | identifiers | st.text(string.ascii_letters + string.digits + "._-~/ ", max_size=120))
def test_identifiers_are_what_the_rule_says(text: str) -> None:
    ascii_word = set(string.ascii_letters + string.digits)
    by_rule = 1 <= len(text) <= 100 and text[0] in ascii_word and set(text) <= ascii_word | set("._-")
    assert is_identifier(text) == by_rule
