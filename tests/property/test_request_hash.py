"""Laws of the request hash: same request, same hash; another request, another hash."""

import json
from collections.abc import Callable
from datetime import timezone
from decimal import Decimal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.json_text import Json
from shared.idempotency.messages import Identifier, Message, Money, parse_message, to_document
from shared.idempotency.request_hash import request_hash, same_request
from tests.property.strategies import Line, Sold, messages, offsets, spelled


def document(message: Message) -> dict[str, Json]:
    plain: dict[str, Json] = json.loads(json.dumps(to_document(message)))
    return plain


def hash_of(text: str) -> str:
    message: Sold = parse_message(text.encode(), Sold)
    return request_hash(message)


@given(messages)
def test_sending_a_message_does_not_change_its_hash(message: Sold) -> None:
    assert hash_of(json.dumps(document(message))) == request_hash(message)


@given(messages, st.data())
def test_key_order_white_space_and_escapes_do_not_count(message: Sold, data: st.DataObject) -> None:
    assert hash_of(data.draw(spelled(document(message)))) == request_hash(message)


@given(messages, messages)
def test_hashes_are_equal_where_the_messages_are(first: Sold, second: Sold) -> None:
    assert (request_hash(first) == request_hash(second)) == (first == second)
    assert same_request(first, request_hash(second)) == (first == second)


OPTIONAL: dict[str, Json] = {
    "schemaVersion": 1,
    "quantity": 1,
    "weight": 0.5,
    "buyer": None,
    "note": "",
    "lines": [],
    "labels": {},
}


@given(messages, st.sets(st.sampled_from(sorted(OPTIONAL))), st.sets(st.sampled_from(sorted(OPTIONAL))))
def test_absent_null_and_default_are_the_same(message: Sold, absent: set[str], null: set[str]) -> None:
    body = document(message) | {name: OPTIONAL[name] for name in absent | null}
    without = {name: value for name, value in body.items() if name not in absent}
    expected = hash_of(json.dumps(body))
    assert hash_of(json.dumps(without)) == expected
    assert hash_of(json.dumps(without | dict.fromkeys(null))) == expected


@given(st.decimals(-(10**9), 10**9, places=3), st.integers(0, 3), st.booleans())
def test_trailing_zeros_of_an_amount_do_not_count(amount: Decimal, zeros: int, minus_zero: bool) -> None:
    plain = format(amount, "f")
    longer = plain + "0" * zeros
    if amount == 0 and minus_zero:
        longer = "-" + longer.removeprefix("-")
    assert hash_of(sale_at(plain)) == hash_of(sale_at(longer))


def sale_at(price: str) -> str:
    line = {"sku": "a", "unitPrice": price}
    return json.dumps({"type": "Sold", "saleId": "S1", "soldAt": "2024-02-29T12:00:00Z", "lines": [line]})


@given(messages, offsets)
def test_the_offset_of_a_time_does_not_count(message: Sold, offset: timezone) -> None:
    elsewhere = msgspec.structs.replace(message, sold_at=message.sold_at.astimezone(offset))
    assert request_hash(elsewhere) == request_hash(message)


CHANGES: list[Callable[[Sold], Sold]] = [
    lambda sale: msgspec.structs.replace(sale, sale_id=Identifier("B" if sale.sale_id != "B" else "C")),
    lambda sale: msgspec.structs.replace(sale, quantity=sale.quantity - 1 if sale.quantity > 0 else sale.quantity + 1),
    lambda sale: msgspec.structs.replace(sale, note=f"{sale.note} "),
    lambda sale: msgspec.structs.replace(sale, lines=(*sale.lines, Line(sku="x", unit_price=Money("0")))),
    lambda sale: msgspec.structs.replace(sale, lines=(Line(sku="\u0000", unit_price=Money("9")), *sale.lines)),
    lambda sale: msgspec.structs.replace(sale, labels={**sale.labels, "new label": "x"}),
    lambda sale: msgspec.structs.replace(sale, buyer=None if sale.buyer else Identifier("B9")),
]


@given(messages, st.sampled_from(CHANGES))
def test_every_business_change_counts(message: Sold, change: Callable[[Sold], Sold]) -> None:
    assert request_hash(change(message)) != request_hash(message)
