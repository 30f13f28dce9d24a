"""Strict JSON: each rule of RFC 8785 section 3.1 and RFC 7493 section 2 that is refused or kept."""

import gzip
import math

import pytest

from shared.idempotency.json_text import DEPTH_MAX, Json, JsonTextError, read_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"{}", {}),
        (b' \t\r\n[1, 2.5, "x", true, false, null] ', [1, 2.5, "x", True, False, None]),
        (b"9007199254740991", 9007199254740991),
        (b"-9007199254740991", -9007199254740991),
        (b"-0", 0),
        (b"1E2", 100.0),
        (b"1e-400", 0.0),
        ('"é"'.encode(), "é"),
        (rb'"\u00e9"', "é"),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\\ud800"', "\\ud800"),
        (b'"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["', "[" * 40),
        (rb'"\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["', '"' + "[" * 40),
        (b"[" + b"{}," * 40 + b"{}]", [{}] * 41),
        (b'{"a":null,"b":{"c":null,"d":[null]}}', {"b": {"d": [None]}}),
    ],
)
def test_what_is_read(text: bytes, value: Json) -> None:
    found = read_json(text)
    assert found == value
    assert type(found) is type(value)


def test_minus_zero_keeps_its_sign_where_it_is_no_integer() -> None:
    found = read_json(b"-0.0")
    assert isinstance(found, float)
    assert math.copysign(1, found) == -1


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"", "Expecting value at line 1, column 1"),
        (b"   ", "Expecting value at line 1, column 4"),
        (b'{"a":1', "Expecting ',' delimiter at line 1, column 7"),
        (b'{"a":1} {}', "Extra data at line 1, column 9"),
        (b"{'a':1}", "Expecting property name enclosed in double quotes at line 1, column 2"),
        (b"01", "Extra data at line 1, column 2"),
        (b'"\n"', "Invalid control character at line 1, column 2"),
        (b'\xef\xbb\xbf{"a":1}', "begins with a byte order mark"),
        (gzip.compress(b"{}", mtime=0), "not UTF-8 at byte 1"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b'"a\xed\xa0\x80"', "not UTF-8 at byte 2"),
        ('{"a":1}'.encode("utf-16"), "not UTF-8 at byte 0"),
        (b"NaN", "NaN is not JSON"),
        (b"[Infinity]", "Infinity is not JSON"),
        (b'{"a":-Infinity}', "-Infinity is not JSON"),
        (b"1e400", "a number overflows; send it as a string"),
        (b"-1e400", "a number overflows; send it as a string"),
        (b"9007199254740992", "an integer lies beyond 2^53 - 1; send it as a string"),
        (b"-9007199254740992", "an integer lies beyond 2^53 - 1; send it as a string"),
        (b"9007199254740993", "an integer lies beyond 2^53 - 1; send it as a string"),
        (b"9" * 5000, "an integer lies beyond 2^53 - 1; send it as a string"),
        (b'{"amount":10,"amount":99}', "duplicate key 'amount'"),
        (b'{"a":{"b":[{"c":1,"c":1}]}}', "duplicate key 'c'"),
        (rb'{"\u0061":1,"a":2}', "duplicate key 'a'"),
        (rb'"\ud800"', "a string holds a lone surrogate"),
        (rb'"\udc00"', "a string holds a lone surrogate"),
        (rb'"\ude00\ud83d"', "a string holds a lone surrogate"),
        (rb'{"a":[{"b":"x\ud800y"}]}', "a string holds a lone surrogate"),
        (rb'{"\ud800":1}', "a string holds a lone surrogate"),
        (b"[" * 100_000, "nested deeper than 32 levels"),
        (b'{"a":' * 100_000, "nested deeper than 32 levels"),
        (b'["]",' * 33 + b"1" + b"]" * 33, "nested deeper than 32 levels"),
    ],
)
def test_what_is_refused(text: bytes, rule: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        read_json(text)
    assert str(caught.value) == rule


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_depth_that_is_just_allowed(opening: bytes, closing: bytes) -> None:
    value = read_json(opening * DEPTH_MAX + b"1" + closing * DEPTH_MAX)
    depth = 0
    while not isinstance(value, int):
        assert isinstance(value, dict | list)
        value = value["a"] if isinstance(value, dict) else value[0]
        depth += 1
    assert depth == 32
    with pytest.raises(JsonTextError, match="nested deeper than 32 levels"):
        read_json(opening * (DEPTH_MAX + 1) + b"1" + closing * (DEPTH_MAX + 1))


def test_a_duplicate_key_is_cut_to_a_readable_length() -> None:
    name = b"k" * 1000
    with pytest.raises(JsonTextError) as caught:
        read_json(b'{"' + name + b'":1,"' + name + b'":2}')
    assert str(caught.value) == f"duplicate key '{'k' * 100}'"
