"""Amounts and instants: what is taken, which rule refuses the rest, and the one spelling they are written in."""

import json
from datetime import UTC
from decimal import Decimal

import pytest

from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.messages import Instant, Message, Money, decimal_text, parse_message


class Paid(Message, frozen=True, kw_only=True):
    amount: Money
    at: Instant


def read(**fields: object) -> Paid:
    whole = {"type": "Paid", "amount": "1", "at": "2024-02-29T12:00:00Z", **fields}
    return parse_message(json.dumps(whole).encode(), Paid)


def refused(**fields: object) -> tuple[DeadLetterReason, str]:
    with pytest.raises(PermanentError) as caught:
        read(**fields)
    return caught.value.reason, caught.value.description


@pytest.mark.parametrize("amount", ["0", "12.50", "-3", "999999999999999.999999", "0.000001", "-0", "100"])
def test_money_is_decimal_text(amount: str) -> None:
    message = read(amount=amount)
    assert message.amount == Decimal(amount)


@pytest.mark.parametrize(
    "amount",
    [
        12.5,
        12,
        True,
        "",
        "1e2",
        "1E2",
        "NaN",
        "Infinity",
        "+1",
        " 1",
        "1 ",
        "1\n",
        ".5",
        "5.",
        "01",
        "1,5",
        "--1",
        "0x1",
    ],
)
def test_money_in_another_spelling_is_refused(amount: object) -> None:
    reason, description = refused(amount=amount)
    assert reason == DeadLetterReason.INVALID_MESSAGE
    rule, _, path = description.partition(" - at ")
    assert rule == 'must be a decimal string such as "12.50" (15 digits, 6 decimals), not a JSON number'
    assert path == "`$.amount`"


@pytest.mark.parametrize("amount", ["1.0000001", "1000000000000000", "\u0661", "1_000"])
def test_money_with_too_many_or_foreign_digits_is_refused(amount: str) -> None:
    assert refused(amount=amount)[0] == DeadLetterReason.INVALID_MESSAGE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12.50", "12.5"),
        ("12.5", "12.5"),
        ("100", "100"),
        ("1E+2", "100"),
        ("0.00", "0"),
        ("-0.0", "0"),
        ("-1.10", "-1.1"),
        ("0.000001", "0.000001"),
        ("1E-7", "0.0000001"),
        ("999999999999999.999999", "999999999999999.999999"),
    ],
)
def test_an_amount_has_one_spelling(value: str, text: str) -> None:
    assert decimal_text(Decimal(value)) == text


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-02-29T12:00:00Z", Instant(2024, 2, 29, 12, tzinfo=UTC)),
        ("2024-03-01T00:30:00+01:00", Instant(2024, 2, 29, 23, 30, tzinfo=UTC)),
        ("2024-02-29T12:00:00.25-05:30", Instant(2024, 2, 29, 17, 30, 0, 250_000, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", Instant(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_an_instant_is_in_utc(text: str, utc: Instant) -> None:
    at = read(at=text).at
    assert (at, at.tzinfo) == (utc, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29T12:00:00",
        "2024-02-30T12:00:00Z",
        "2024-02-29",
        "12:00",
        "",
        " 2024-02-29T12:00:00Z",
        1709208000,
        True,
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:30:00-01:00",
    ],
)
def test_what_is_no_instant_is_refused_with_the_rule(text: object) -> None:
    reason, description = refused(at=text)
    assert reason == DeadLetterReason.INVALID_MESSAGE
    assert description == (
        'must be a time with its offset such as "2026-03-02T09:30:00Z", in the years 1 to 9999 - at `$.at`'
    )
