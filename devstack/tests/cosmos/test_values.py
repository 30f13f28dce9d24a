"""JSON values, partition keys, ids, rids and charges."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.cosmos.charges import error_charge, read_charge, write_charge
from devstack.cosmos.errors import CosmosError
from devstack.cosmos.items.document import ID_BYTES_MAX, item_id
from devstack.cosmos.items.partition_key import from_header, of_document, require_match
from devstack.cosmos.json_values import Json, read_json, write_json
from devstack.cosmos.store.rids import item_rid, new_container_rid, new_database_rid


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (b"10.0", b"10"),
        (b"1e2", b"100"),
        (b"-0.0", b"0"),
        (b"0.1", b"0.1"),
        (b"9007199254740992", b"9007199254740992"),
        (b"9007199254740993", b"9007199254740992"),
        (b"-9007199254740993", b"-9007199254740992"),
        (b"0.30000000000000004", b"0.30000000000000004"),
    ],
)
def test_numbers_are_doubles(written: bytes, stored: bytes) -> None:
    assert write_json(read_json(written)) == stored


@pytest.mark.parametrize(
    "body",
    [b"1e400", b"1" * 5000, b"NaN", b"-Infinity", b"{", b"", b"\xff", b'{"a":}', b"[" * 100_000],
    ids=["too large", "too many digits", "NaN", "infinity", "cut", "empty", "not UTF-8", "hole", "deep"],
)
def test_what_is_no_json_is_400(body: bytes) -> None:
    with pytest.raises(CosmosError) as refused:
        read_json(body)
    assert refused.value.status == 400


def test_nesting_has_a_limit() -> None:
    assert read_json(b"[" * 128 + b"]" * 128) is not None
    with pytest.raises(CosmosError, match="128"):
        read_json(b"[" * 129 + b"]" * 129)


def test_many_flat_brackets_are_not_deep() -> None:
    assert read_json(b"[" + b",".join([b"[]"] * 500) + b"]") == [[]] * 500


def test_a_lone_surrogate_cannot_be_stored() -> None:
    with pytest.raises(CosmosError, match="lone surrogate"):
        write_json(read_json(b'"\\ud800"'))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back_equal(value: float) -> None:
    assert read_json(write_json(read_json(write_json(value)))) == value


@pytest.mark.parametrize(
    ("header", "document"),
    [
        ('["a"]', {"k": "a"}),
        ('["\\u00e9"]', {"k": "é"}),
        ("[7.0]", {"k": 7}),
        ("[true]", {"k": True}),
        ("[null]", {"k": None}),
        ('[""]', {"k": ""}),
        ("[{}]", {}),
    ],
)
def test_a_header_names_the_partition_of_the_document(header: str, document: dict[str, Json]) -> None:
    require_match(document, "/k", from_header(header))


def test_the_keys_of_different_values_differ() -> None:
    headers = ['["1"]', "[1]", "[true]", "[null]", "[{}]", '[""]', '["null"]', '["true"]', '["{}"]']
    assert len({from_header(header) for header in headers}) == len(headers)


def test_a_key_may_lie_deeper() -> None:
    assert of_document({"owner": {"id": "x"}}, "/owner/id") == from_header('["x"]')
    assert of_document({"owner": "x"}, "/owner/id") == from_header("[{}]")


def test_another_partition_is_400_1001() -> None:
    with pytest.raises(CosmosError) as refused:
        require_match({"k": "b"}, "/k", from_header('["a"]'))
    assert (refused.value.status, refused.value.sub_status) == (400, 1001)


@pytest.mark.parametrize("header", ["", "[]", '["a","b"]', '"a"', "[[1]]", '[{"a":1}]', '["' + "x" * 2049 + '"]'])
def test_what_is_no_key_is_400(header: str) -> None:
    with pytest.raises(CosmosError) as refused:
        from_header(header)
    assert refused.value.status == 400


@pytest.mark.parametrize("value", [None, "", 7, "a/b", "a\\b", "a?b", "a#b", "x" * (ID_BYTES_MAX + 1), "é" * 512])
def test_what_is_no_id_is_400(value: Json) -> None:
    with pytest.raises(CosmosError, match="'id'") as refused:
        item_id({"id": value})
    assert refused.value.status == 400


@pytest.mark.parametrize("value", ["a", "..", "%2F", "op:1", "é", "x" * ID_BYTES_MAX])
def test_ids_that_are_allowed(value: str) -> None:
    assert item_id({"id": value}) == value


def test_rids_have_the_lengths_and_marks_that_tell_their_kinds_apart() -> None:
    database = new_database_rid(lambda count: b"\x01" * count)
    container = new_container_rid(database, lambda count: b"\x02" * count)
    item = item_rid(container, 0x1234)
    assert base64.b64decode(database) == bytes.fromhex("01010101")
    assert base64.b64decode(container) == bytes.fromhex("01010101 82020202")
    assert base64.b64decode(item) == bytes.fromhex("01010101 82020202 3412000000000000")


def test_charges_are_the_documented_ones() -> None:
    kilobyte = 1024
    assert (read_charge(1), read_charge(kilobyte), read_charge(100 * kilobyte)) == (1.0, 1.0, 10.0)
    assert [write_charge(size * kilobyte) for size in (1, 2, 4)] == [4.95, 6.29, 6.67]
    assert error_charge(409) == 1.24
