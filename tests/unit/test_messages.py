"""Bytes to messages: every refusal names the field and the rule."""

import json
from datetime import UTC
from typing import Annotated

import msgspec
import pytest

from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.messages import (
    BODY_BYTES_MAX,
    Identifier,
    Instant,
    Message,
    Money,
    parse_message,
    to_document,
)
from tests.unit.example_consumers import AccountMessage, AccountOpened, OwnerChanged


class Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    sku: Annotated[str, msgspec.Meta(min_length=1)]
    unit_price: Money


class Sold(Message, frozen=True, kw_only=True):
    sale_id: Identifier
    buyer_id: Identifier | None = None
    sold_at: Instant
    quantity: int
    lines: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        if self.quantity == 0:
            raise ValueError("quantity: must not be 0")


def sold(**changes: object) -> dict[str, object]:
    whole = {
        "type": "Sold",
        "schemaVersion": 1,
        "saleId": "S1",
        "buyerId": "B1",
        "soldAt": "2024-02-29T12:00:00+01:00",
        "quantity": 2,
        "lines": [{"sku": "x", "unitPrice": "12.50"}],
    }
    return whole | changes


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in sold().items() if key != name}


def refused(body: object) -> tuple[DeadLetterReason, str]:
    with pytest.raises(PermanentError) as caught:
        parse_message(body if isinstance(body, bytes) else json.dumps(body).encode(), Sold)
    return caught.value.reason, caught.value.description


def test_a_message_is_read() -> None:
    assert parse_message(json.dumps(sold()).encode(), Sold) == Sold(
        sale_id=Identifier("S1"),
        buyer_id=Identifier("B1"),
        sold_at=Instant(2024, 2, 29, 11, 0, tzinfo=UTC),
        quantity=2,
        lines=(Line(sku="x", unit_price=Money("12.50")),),
    )


def test_what_may_be_left_out() -> None:
    smallest = {"type": "Sold", "saleId": "S1", "soldAt": "2024-02-29T12:00:00Z", "quantity": 1, "buyerId": None}
    message = parse_message(json.dumps(smallest).encode(), Sold)
    assert (message.schema_version, message.buyer_id, message.lines) == (1, None, ())


def test_null_is_the_same_as_absent() -> None:
    assert parse_message(
        json.dumps(sold(buyerId=None, schemaVersion=None, lines=None)).encode(), Sold
    ) == parse_message(
        json.dumps({key: value for key, value in sold(lines=[]).items() if key != "buyerId"}).encode(), Sold
    )


def test_a_union_is_told_apart_by_type() -> None:
    first: AccountOpened | OwnerChanged = parse_message(
        b'{"type":"AccountOpened","accountId":"a","owner":"A"}', AccountMessage
    )
    second: AccountOpened | OwnerChanged = parse_message(
        b'{"type":"OwnerChanged","accountId":"a","changeId":"x","owner":"B"}', AccountMessage
    )
    assert isinstance(first, AccountOpened)
    assert isinstance(second, OwnerChanged)


def test_a_body_may_be_as_large_as_the_limit() -> None:
    body = json.dumps(sold()).encode()
    at_limit = body + b" " * (BODY_BYTES_MAX - len(body))
    assert parse_message(at_limit, Sold).sale_id == "S1"
    assert refused(at_limit + b" ") == (
        DeadLetterReason.PAYLOAD_TOO_LARGE,
        "body: 131073 bytes, the limit is 131072 bytes",
    )


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "body: Expecting value at line 1, column 1"),
        (b"\x1f\x8b\x08", "body: not UTF-8 at byte 1"),
        (b'{"saleId":"a","saleId":"b"}', "body: duplicate key 'saleId'"),
        (b"[" * 100_000, "body: nested deeper than 32 levels"),
        (b'{"quantity":9007199254740993}', "body: an integer lies beyond 2^53 - 1; send it as a string"),
    ],
)
def test_a_body_that_is_not_strict_json(body: bytes, rule: str) -> None:
    assert refused(body) == (DeadLetterReason.MALFORMED_MESSAGE, rule)


@pytest.mark.parametrize("body", [[], [sold()], "text", 5, 1.5, True, None])
def test_a_body_that_is_no_object(body: object) -> None:
    assert refused(body) == (DeadLetterReason.INVALID_MESSAGE, "body: must be a JSON object")


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, 1.0, True, False, [1]])
def test_a_schema_version_that_is_none(version: object) -> None:
    assert refused(sold(schemaVersion=version)) == (
        DeadLetterReason.INVALID_MESSAGE,
        "schemaVersion: must be an integer, 1 or more",
    )


def test_a_newer_schema_version_is_told_before_its_fields() -> None:
    assert refused({"type": "Sold", "schemaVersion": 2, "somethingNew": 1}) == (
        DeadLetterReason.UNKNOWN_SCHEMA_VERSION,
        "schemaVersion: 2 is newer than 1; upgrade this app, then resubmit",
    )


INVALID = DeadLetterReason.INVALID_MESSAGE
IDENTIFIER = DeadLetterReason.INVALID_IDENTIFIER


@pytest.mark.parametrize(
    ("body", "reason", "field"),
    [
        (without("type"), INVALID, "type"),
        (sold(type="Bought"), INVALID, "$.type"),
        (sold(type=None), INVALID, "type: is missing"),
        (sold(type=5), INVALID, "$.type"),
        (without("quantity"), INVALID, "`quantity`"),
        (without("saleId"), INVALID, "`saleId`"),
        (without("soldAt"), INVALID, "`soldAt`"),
        (sold(DeliveryCount="x"), INVALID, "`DeliveryCount`"),
        (sold(sale_id="S1"), INVALID, "`sale_id`"),
        (sold(quantity="2"), INVALID, "$.quantity"),
        (sold(quantity=True), INVALID, "$.quantity"),
        (sold(quantity=1.5), INVALID, "$.quantity"),
        (sold(quantity=None), INVALID, "`quantity`"),
        (sold(quantity=0), INVALID, "quantity: must not be 0"),
        (sold(soldAt="2024-02-29T12:00:00"), INVALID, "$.soldAt"),
        (sold(soldAt="2024-02-30T12:00:00Z"), INVALID, "$.soldAt"),
        (sold(soldAt=1709208000), INVALID, "$.soldAt"),
        (sold(lines={}), INVALID, "$.lines"),
        (sold(lines=[{"sku": "x"}]), INVALID, "$.lines[0]"),
        (sold(lines=[{"sku": "x", "unitPrice": "1"}, {"sku": "", "unitPrice": "1"}]), INVALID, "$.lines[1].sku"),
        (sold(lines=[{"sku": "x", "unitPrice": "1", "gift": 1}]), INVALID, "`gift`"),
        (sold(saleId=""), IDENTIFIER, "$.saleId"),
        (sold(saleId=None), INVALID, "`saleId`"),
        (sold(saleId=False), IDENTIFIER, "$.saleId"),
        (sold(saleId=5), IDENTIFIER, "$.saleId"),
        (sold(saleId="a/b"), IDENTIFIER, "$.saleId"),
        (sold(saleId="x" * 101), IDENTIFIER, "$.saleId"),
        (sold(saleId="e\u0301"), IDENTIFIER, "$.saleId"),
        (sold(saleId="\u00e9"), IDENTIFIER, "$.saleId"),
        (sold(buyerId=""), IDENTIFIER, "$.buyerId"),
    ],
)
def test_a_refusal_names_the_field(body: object, reason: DeadLetterReason, field: str) -> None:
    found, description = refused(body)
    assert found == reason
    assert field in description


def test_a_refused_identifier_names_the_rule() -> None:
    assert refused(sold(saleId="a b"))[1] == (
        "must be 1 to 100 characters of A-Z a-z 0-9 . _ -, the first a letter or digit - at `$.saleId`"
    )


def test_a_message_is_stored_in_one_spelling() -> None:
    message = parse_message(json.dumps(sold()).encode(), Sold)
    document = json.loads(json.dumps(to_document(message)))
    assert document == {
        "type": "Sold",
        "schemaVersion": 1,
        "saleId": "S1",
        "buyerId": "B1",
        "soldAt": "2024-02-29T11:00:00Z",
        "quantity": 2,
        "lines": [{"sku": "x", "unitPrice": "12.5"}],
    }
    assert parse_message(json.dumps(document).encode(), Sold) == message
