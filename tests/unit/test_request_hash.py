"""Request hash v1. Every expectation is canonical JSON written by hand from RFC 8785, and its SHA-256."""

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import msgspec
import pytest

from shared.idempotency.errors import NewerVersionError
from shared.idempotency.messages import Identifier, Instant, Message, Money, parse_message, utc_text
from shared.idempotency.request_hash import request_hash, same_request
from tests.unit.example_consumers import PointsGranted, grant


class Kind(StrEnum):
    GIFT = "gift"
    SALE = "sale"


class Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    sku: str
    unit_price: Money
    discount: Money = Money("0")


class Sold(Message, frozen=True, kw_only=True):
    sale_id: Identifier
    sold_at: Instant
    kind: Kind = Kind.SALE
    quantity: int = 1
    weight: float = 0.5
    buyer: str | None = None
    closed: bool = False
    lines: list[Line] = msgspec.field(default_factory=list)
    labels: dict[str, str] = msgspec.field(default_factory=dict)


def sold(**changes: object) -> Sold:
    body = {"type": "Sold", "saleId": "S1", "soldAt": "2024-02-29T12:00:00Z"} | changes
    return parse_message(json.dumps(body).encode(), Sold)


def v1(canonical: str) -> str:
    return "v1:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def test_fields_are_sorted_and_the_type_is_one_of_them() -> None:
    assert request_hash(grant("g1", points=5, customer="c1")) == v1(
        '{"customerId":"c1","grantId":"g1","points":5,"type":"PointsGranted"}'
    )


def test_a_whole_vector_worked_out_by_hand() -> None:
    # printf '%s' '{"customerId":"c1","grantId":"g1","points":5,"type":"PointsGranted"}' | sha256sum
    assert request_hash(grant("g1", points=5, customer="c1")) == (
        "v1:a8b0e760c8af854231a37c31c7b558c04c4fff1cb3a11eb102944f947281b761"
    )


SMALLEST = '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"schemaVersion": 1},
        {"quantity": 1},
        {"weight": 0.5},
        {"buyer": None},
        {"kind": "sale"},
        {"closed": False},
        {"lines": [], "labels": {}},
        {"soldAt": "2024-02-29T12:00:00.000000Z"},
        {"soldAt": "2024-02-29T12:00:00+00:00"},
        {"soldAt": "2024-02-29T12:00:00-00:00"},
        {"soldAt": "2024-02-29T14:30:00+02:30"},
        {"soldAt": "2024-02-28T23:30:00-12:30"},
        {"soldAt": "2024-02-29t12:00:00z"},
    ],
)
def test_what_does_not_change_the_hash(changes: dict[str, object]) -> None:
    assert request_hash(sold(**changes)) == v1(SMALLEST)


@pytest.mark.parametrize(
    ("changes", "canonical"),
    [
        ({"saleId": "S2"}, '{"saleId":"S2","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"saleId": "s1"}, '{"saleId":"s1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        (
            {"soldAt": "2024-02-29T12:00:00.120Z"},
            '{"saleId":"S1","soldAt":"2024-02-29T12:00:00.12Z","type":"Sold"}',
        ),
        (
            {"soldAt": "2024-02-29T12:00:00.000001Z"},
            '{"saleId":"S1","soldAt":"2024-02-29T12:00:00.000001Z","type":"Sold"}',
        ),
        ({"quantity": 2}, '{"quantity":2,"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"quantity": 0}, '{"quantity":0,"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"weight": 100}, '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold","weight":100}'),
        ({"weight": 1e21}, '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold","weight":1e+21}'),
        ({"weight": 1e-7}, '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold","weight":1e-7}'),
        ({"weight": -0.0}, '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold","weight":0}'),
        (
            {"weight": 0.1 + 0.2},
            '{"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold","weight":0.30000000000000004}',
        ),
        ({"closed": True}, '{"closed":true,"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"kind": "gift"}, '{"kind":"gift","saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"buyer": ""}, '{"buyer":"","saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"buyer": "é"}, '{"buyer":"é","saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        ({"buyer": "e\u0301"}, '{"buyer":"e\u0301","saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}'),
        (
            {"buyer": '"\\/\b\f\n\r\t\u0001\u007f\u2028😀'},
            '{"buyer":"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\u007f\u2028😀",'
            '"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}',
        ),
        (
            {"lines": [{"sku": "b", "unitPrice": "12.50"}, {"sku": "a", "unitPrice": "-0.0", "discount": "1.0"}]},
            '{"lines":[{"sku":"b","unitPrice":"12.5"},{"discount":"1","sku":"a","unitPrice":"0"}],'
            '"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}',
        ),
        (
            {"lines": [{"sku": "a", "unitPrice": "0", "discount": "1"}, {"sku": "b", "unitPrice": "12.5"}]},
            '{"lines":[{"discount":"1","sku":"a","unitPrice":"0"},{"sku":"b","unitPrice":"12.5"}],'
            '"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}',
        ),
        (
            {"lines": [{"sku": "a", "unitPrice": "100.00", "discount": "0.00"}]},
            '{"lines":[{"sku":"a","unitPrice":"100"}],"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}',
        ),
        # Keys of RFC 8785 section 3.2.3, sorted by UTF-16 code units.
        (
            {"labels": dict.fromkeys(["€", "\r", "\ufb33", "1", "😀", "\u0080", "ö"], "x")},
            '{"labels":{"\\r":"x","1":"x","\u0080":"x","ö":"x","€":"x","😀":"x","\ufb33":"x"},'
            '"saleId":"S1","soldAt":"2024-02-29T12:00:00Z","type":"Sold"}',
        ),
    ],
)
def test_what_changes_the_hash(changes: dict[str, object], canonical: str) -> None:
    assert request_hash(sold(**changes)) == v1(canonical)


@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"PointsGranted","grantId":"g1","customerId":"c1","points":5,"note":"\xc3\xa9"}',
        b'{"points":5,"note":"\\u00e9","customerId":"c1","grantId":"g1","type":"PointsGranted"}',
        b' {\n"note" : "\\u00E9",\t"grantId":"g\\u0031","points":5 ,"customerId":"c1",\r\n"type":"PointsGranted" } ',
        b'{"schemaVersion":1,"type":"PointsGranted","grantId":"g1","customerId":"c1","points":5,"note":"\xc3\xa9"}',
    ],
)
def test_the_spelling_of_the_json_does_not_count(body: bytes) -> None:
    assert request_hash(parse_message(body, PointsGranted)) == v1(
        '{"customerId":"c1","grantId":"g1","note":"é","points":5,"type":"PointsGranted"}'
    )


def test_the_schema_version_is_not_hashed() -> None:
    newer = msgspec.structs.replace(grant("g1"), schema_version=2)
    assert request_hash(newer) == request_hash(grant("g1"))


def test_a_stored_hash_is_compared() -> None:
    message = grant("g1")
    assert same_request(message, request_hash(message))
    assert not same_request(message, request_hash(grant("g1", points=6)))
    assert not same_request(message, "v1:")
    assert not same_request(message, "v1:" + "0" * 64)


@pytest.mark.parametrize("version", ["v2", "v10", "V1", ""])
def test_a_version_that_is_not_known_is_retried(version: str) -> None:
    digest = request_hash(grant()).partition(":")[2]
    with pytest.raises(NewerVersionError, match=f"request hash version {version} is not known to this code"):
        same_request(grant(), f"{version}:{digest}")


def test_a_time_without_offset_has_no_spelling() -> None:
    with pytest.raises(ValueError, match="a time must have an offset, such as tzinfo=UTC"):
        utc_text(datetime(2024, 1, 1))  # noqa: DTZ001 - the fault under test


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29T12:00:00Z"),
        (datetime(2024, 2, 29, 12, 0, 0, 500_000, tzinfo=UTC), "2024-02-29T12:00:00.5Z"),
        (datetime(2024, 2, 29, 12, 0, 0, 10, tzinfo=UTC), "2024-02-29T12:00:00.00001Z"),
        (datetime(2024, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))), "2024-02-29T23:30:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
    ],
)
def test_a_time_has_one_spelling(time: datetime, text: str) -> None:
    assert utc_text(time) == text


def test_a_field_without_a_canonical_form_is_a_programming_error() -> None:
    class Uploaded(Message, frozen=True, kw_only=True):
        content: bytes

    with pytest.raises(TypeError, match="no canonical form for a field of type bytes"):
        request_hash(Uploaded(content=b"x"))
