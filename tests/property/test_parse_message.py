"""Whatever arrives is a message or a dead letter, in bounded time."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.errors import PermanentError
from shared.idempotency.json_text import Json, JsonTextError, read_json
from shared.idempotency.messages import BODY_BYTES_MAX, parse_message, to_document
from tests.property.strategies import Sold, json_values, messages, spelled


def parsed_or_refused(body: bytes) -> Sold | None:
    try:
        message: Sold = parse_message(body, Sold)
    except PermanentError:
        return None
    assert isinstance(message, Sold)
    return message


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    parsed_or_refused(body)


@given(json_values, st.data())
def test_any_json(value: Json, data: st.DataObject) -> None:
    parsed_or_refused(data.draw(spelled(value)).encode())


@given(messages, st.sampled_from(["type", "schemaVersion", "saleId", "soldAt", "lines", "labels", "more"]), json_values)
def test_any_value_in_any_field(message: Sold, field: str, value: Json) -> None:
    body = json.loads(json.dumps(to_document(message))) | {field: value}
    parsed_or_refused(json.dumps(body).encode())


@given(messages, st.data())
def test_any_byte_changed(message: Sold, data: st.DataObject) -> None:
    body = bytearray(json.dumps(to_document(message)).encode())
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] = data.draw(st.integers(0, 255))
    parsed_or_refused(bytes(body))


@given(messages)
def test_a_message_that_is_written_is_read_as_it_was(message: Sold) -> None:
    assert parsed_or_refused(json.dumps(to_document(message)).encode()) == message


def without_nulls(value: Json) -> Json:
    match value:
        case dict():
            return {key: without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [without_nulls(item) for item in value]
        case _:
            return value


@given(json_values, st.data())
def test_strict_json_reads_what_the_standard_library_reads_but_for_nulls(value: Json, data: st.DataObject) -> None:
    text = data.draw(spelled(value))
    assert read_json(text.encode()) == without_nulls(json.loads(text))


FRAGMENTS = [
    b"[",
    b"]",
    b"{",
    b'"',
    b"\\",
    b'\\"',
    b'"\\',
    b'{"a":',
    b'[{"":',
    b"[[],",
    b"1,",
    b"-",
    b"9",
    b"e9",
    b"\\ud800",
]
LARGE = [prefix + fragment * (BODY_BYTES_MAX // len(fragment) - 8) for fragment in FRAGMENTS for prefix in (b"", b'["')]


@pytest.mark.parametrize("text", LARGE, ids=lambda text: repr(text[:12]))
def test_the_worst_bodies_are_read_in_linear_time(text: bytes) -> None:
    started = time.process_time()
    with pytest.raises(JsonTextError):
        read_json(text)
    # Linear is about 10 ms; one nested quantifier more would be hours.
    assert time.process_time() - started < 5


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(b"".join))
def test_any_mix_of_brackets_quotes_and_escapes(text: bytes) -> None:
    try:
        value = read_json(text)
    except JsonTextError:
        return
    assert value == without_nulls(json.loads(text))
