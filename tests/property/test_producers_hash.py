"""The producer's rule in samples/ and the app's are two programs with one answer."""

import hashlib
import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from ordering.orders.operations import OrderPlaced
from samples.request_hash import Json
from samples.request_hash import message_id as producers_message_id
from samples.request_hash import request_hash as producers_hash
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import parse_message
from shared.idempotency.request_hash import request_hash
from tests.property.strategies import identifiers, texts

amounts = st.from_regex(r"\A-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?\Z")
# The seconds' fraction, with and without trailing zeros, and every shape of offset.
times = st.builds(
    "{:%Y-%m-%dT%H:%M:%S}{}{}".format,
    st.datetimes(min_value=datetime(1970, 1, 3), max_value=datetime(2200, 1, 1)),  # noqa: DTZ001 - the offset follows
    st.just("") | st.from_regex(r"\A\.[0-9]{1,6}\Z"),
    st.sampled_from(["Z", "+00:00", "-00:00", "+01:00", "-05:30", "+14:00", "-23:59"]),
)
lines = st.fixed_dictionaries(
    {"sku": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
     "quantity": st.integers(-1000, 1000).filter(bool), "unitPrice": amounts},
    optional={"description": st.none() | texts},
)  # fmt: skip


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Json]:
    order_id = draw(identifiers)
    fields: dict[str, Json] = {
        "type": "OrderPlaced", "orderId": order_id, "operationId": order_id, "sequence": 1,
        "occurredAt": draw(times), "currency": draw(st.sampled_from(["GBP", "EUR"])),
        "lines": list[Json](draw(st.lists(lines, min_size=1, max_size=3))),  # type: ignore[arg-type] # dicts are JSON
    }  # fmt: skip
    optional = st.fixed_dictionaries(
        {},
        optional={
            "schemaVersion": st.just(1), "endOfSequence": st.booleans() | st.none(),
            "customerId": st.none() | identifiers,
        },
    )  # fmt: skip
    shuffled = draw(st.permutations(list((fields | draw(optional)).items())))
    return dict(shuffled)


@given(orders(), st.booleans())
def test_both_have_one_answer(order: dict[str, Json], escaped: bool) -> None:
    placed = parse_message(json.dumps(order, ensure_ascii=escaped).encode(), OrderPlaced)
    assert producers_hash(order) == request_hash(placed)
    assert producers_message_id(order) == message_id_of(placed.operation_id, request_hash(placed))


def test_the_answer_is_that_of_the_written_rule() -> None:
    order: dict[str, Json] = {
        "schemaVersion": 1, "type": "OrderPlaced", "orderId": "489434", "operationId": "489434", "sequence": 1,
        "occurredAt": "2009-12-01T08:45:00.50+01:00", "customerId": None, "currency": "GBP", "endOfSequence": False,
        "lines": [{"sku": "85048", "description": "caf\u00e9", "quantity": 12, "unitPrice": "6.950"}],
    }  # fmt: skip
    canonical = (
        '{"currency":"GBP","lines":[{"description":"café","quantity":12,"sku":"85048","unitPrice":"6.95"}],'
        '"occurredAt":"2009-12-01T07:45:00.5Z","operationId":"489434","orderId":"489434","sequence":1,'
        '"type":"OrderPlaced"}'
    )
    expected = "v1:" + hashlib.sha256(canonical.encode()).hexdigest()
    assert producers_hash(order) == expected
    assert request_hash(parse_message(json.dumps(order).encode(), OrderPlaced)) == expected
