"""Every expectation is canonical JSON written by hand from RFC 8785 and the rule, and its SHA-256."""

import copy
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.request_hash import Json, message_id, request_hash


def order(**changes: Json) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "schemaVersion": 1,
        "type": "OrderPlaced",
        "orderId": "A1",
        "operationId": "A1",
        "sequence": 1,
        "occurredAt": "2009-12-01T07:45:00Z",
        "currency": "GBP",
        "lines": [{"sku": "85048", "quantity": 12, "unitPrice": "6.95"}],
    }
    return fields | changes


PLAIN = (
    '{"currency":"GBP","lines":[{"quantity":12,"sku":"85048","unitPrice":"6.95"}],'
    '"occurredAt":"2009-12-01T07:45:00Z","operationId":"A1","orderId":"A1","sequence":1,"type":"OrderPlaced"}'
)


def sha256_hex(canonical: str) -> str:
    return hashlib.sha256(canonical.encode()).hexdigest()


def test_smallest_order() -> None:
    assert request_hash(order()) == "v1:" + sha256_hex(PLAIN)


def test_all_fields_with_escapes_and_letters_beyond_ascii() -> None:
    full = order(
        endOfSequence=True,
        customerId="13085",
        lines=[
            {"sku": "22041", "description": 'RECORD FRAME 7" É\n', "quantity": -48, "unitPrice": "2.10"},
            {"sku": "22041", "description": "", "quantity": 1, "unitPrice": "0.00"},
        ],
    )
    canonical = (
        '{"currency":"GBP","customerId":"13085","endOfSequence":true,"lines":['
        '{"description":"RECORD FRAME 7\\" É\\n","quantity":-48,"sku":"22041","unitPrice":"2.1"},'
        '{"description":"","quantity":1,"sku":"22041","unitPrice":"0"}],'
        '"occurredAt":"2009-12-01T07:45:00Z","operationId":"A1","orderId":"A1","sequence":1,"type":"OrderPlaced"}'
    )
    assert request_hash(full) == "v1:" + sha256_hex(canonical)


def test_null_absent_and_default_are_one() -> None:
    spelled_out = order(endOfSequence=False, customerId=None)
    spelled_out["lines"] = [{"sku": "85048", "description": None, "quantity": 12, "unitPrice": "6.95"}]
    assert request_hash(spelled_out) == request_hash(order())
    assert request_hash(order(endOfSequence=None)) == request_hash(order())


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("10.00", "10"),
        ("10", "10"),
        ("1E+2", "100"),
        ("100", "100"),
        ("0.00", "0"),
        ("-0", "0"),
        ("-0.50", "-0.5"),
        ("0.000001", "0.000001"),
        ("123456789012345.123456", "123456789012345.123456"),
        ("12345678901234567890123456789.1234567", "12345678901234567890123456789.1234567"),
    ],
)
def test_decimals_have_one_plain_notation(written: str, canonical: str) -> None:
    priced = order(lines=[{"sku": "85048", "quantity": 12, "unitPrice": written}])
    assert request_hash(priced) == "v1:" + sha256_hex(PLAIN.replace('"6.95"', f'"{canonical}"'))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("2009-12-01T07:45:00+00:00", "2009-12-01T07:45:00Z"),
        ("2009-12-01T08:45:00+01:00", "2009-12-01T07:45:00Z"),
        ("2009-12-01T07:45:00.000Z", "2009-12-01T07:45:00Z"),
        ("2009-12-01T07:45:00.500Z", "2009-12-01T07:45:00.5Z"),
        ("2009-12-01T07:45:10.000001Z", "2009-12-01T07:45:10.000001Z"),
    ],
)
def test_times_have_one_notation_in_utc(written: str, canonical: str) -> None:
    expected = PLAIN.replace("2009-12-01T07:45:00Z", canonical)
    assert request_hash(order(occurredAt=written)) == "v1:" + sha256_hex(expected)


@pytest.mark.parametrize(
    "change",
    [
        {"currency": "EUR"},
        {"customerId": "1"},
        {"endOfSequence": True},
        {"occurredAt": "2009-12-01T07:45:01Z"},
        {"lines": [{"sku": "85048", "quantity": 13, "unitPrice": "6.95"}]},
        {"lines": [{"sku": "85048", "description": "", "quantity": 12, "unitPrice": "6.95"}]},
    ],
)
def test_every_business_field_counts(change: dict[str, Json]) -> None:
    assert request_hash(order(**change)) != request_hash(order())


def test_schema_version_does_not_count_and_line_order_does() -> None:
    lines: list[Json] = [
        {"sku": "a", "quantity": 1, "unitPrice": "1"},
        {"sku": "b", "quantity": 1, "unitPrice": "1"},
    ]
    assert request_hash(order(schemaVersion=2)) == request_hash(order())
    assert request_hash(order(lines=lines)) != request_hash(order(lines=lines[::-1]))


def test_composed_and_decomposed_letters_are_two_strings() -> None:
    assert request_hash(order(customerId="caf\u00e9")) != request_hash(order(customerId="cafe\u0301"))


@given(st.permutations(list(order())))
def test_key_order_does_not_count(names: list[str]) -> None:
    fields = order()
    assert request_hash({name: fields[name] for name in names}) == request_hash(fields)


def test_the_order_is_left_as_it_was() -> None:
    given_order = order(endOfSequence=False, lines=[{"sku": "a", "quantity": 1, "unitPrice": "1.00"}])
    before = copy.deepcopy(given_order)
    request_hash(given_order)
    assert given_order == before


@pytest.mark.parametrize(
    ("change", "error", "field"),
    [
        ({"occurredAt": "2009-12-01T07:45:00"}, ValueError, "occurredAt"),
        ({"lines": [{"sku": "a", "quantity": 1, "unitPrice": "NaN"}]}, ValueError, "unitPrice"),
        ({"lines": [{"sku": "a", "quantity": 1, "unitPrice": "six"}]}, ValueError, "unitPrice"),
        ({"lines": "none"}, TypeError, "lines"),
        ({"lines": ["none"]}, TypeError, "lines"),
    ],
)
def test_refuses_what_it_cannot_read(change: dict[str, Json], error: type[Exception], field: str) -> None:
    with pytest.raises(error, match=field):
        request_hash(order(**change))


def test_message_id_is_key_hash_and_suffix() -> None:
    digits = sha256_hex(PLAIN)[:16]
    assert message_id(order()) == f"A1~{digits}"
    assert message_id(order(), "copy1") == f"A1~{digits}~copy1"


def test_sample_order_can_be_hashed() -> None:
    sample = json.loads((Path(__file__).parents[2] / "samples" / "order.json").read_text(encoding="utf-8"))
    assert message_id(sample).startswith("web-1001~")
