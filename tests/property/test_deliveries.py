"""Whatever the broker delivers has a disposition: no exception escapes, and a dead letter's words fit the broker."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.backoff import Limits
from shared.idempotency.disposition import Complete, DeadLetter, Handled
from shared.idempotency.engine import Engine
from shared.idempotency.ports import Delivery
from shared.servicebus.settlement import DESCRIPTION_LENGTH_MAX, REASON_LENGTH_MAX
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore
from tests.property.strategies import json_values
from tests.unit.example_consumers import LOYALTY

# What a foreign sender may put there: any text, lone surrogates and line breaks included.
any_text = st.text(st.characters(exclude_categories=[]), max_size=300)
fields = st.sampled_from(["type", "schemaVersion", "grantId", "customerId", "points", "note", "more", "deliveryCount"])
near_grants = st.dictionaries(fields, json_values | any_text, max_size=8).map(
    lambda changes: json.dumps(
        {"type": "PointsGranted", "grantId": "g1", "customerId": "c1", "points": 5} | changes
    ).encode()
)
deliveries = st.builds(
    Delivery,
    message_id=any_text | st.sampled_from(["g1", "g1~0123456789abcdef", "~", "g1~~"]),
    session_id=st.none() | any_text | st.just("c1"),
    sequence_number=st.integers(0, 2**63),
    delivery_count=st.integers(1, 2**31),
    body=st.none() | st.binary(max_size=100) | near_grants,
    traceparent=st.none() | any_text,
)


def handled(delivery: Delivery) -> Handled:
    clock = ManualClock()
    engine = Engine(
        consumer=LOYALTY, store=MemoryStore("/customerId"), clock=clock, random=SequenceRandom(), limits=Limits()
    )
    return asyncio.run(engine.handle(delivery))


@given(deliveries)
def test_every_delivery_has_a_disposition(delivery: Delivery) -> None:
    match handled(delivery).disposition:
        case Complete():
            assert delivery.session_id == "c1"
            assert delivery.message_id.partition("~")[0] == "g1"
        case DeadLetter(reason, description):
            assert 0 < len(reason) <= REASON_LENGTH_MAX
            assert description
            # What is cut still encodes: the broker takes 4,096 characters.
            assert len(description[:DESCRIPTION_LENGTH_MAX].encode("utf-8", "replace")) <= 4096
        case other:
            raise AssertionError(f"a sound store leaves nothing to retry: {other}")
