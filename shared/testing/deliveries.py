"""Deliveries as a well-behaved producer and the broker make them."""

import msgspec

from shared.idempotency.consumer import Consumer
from shared.idempotency.keys import message_id_of
from shared.idempotency.messages import Message, State, to_document
from shared.idempotency.ports import Delivery
from shared.idempotency.request_hash import request_hash


def delivery_of[M: Message, S: State](
    consumer: Consumer[M, S], message: M, *, delivery_count: int = 1, suffix: str | None = None
) -> Delivery:
    """A delivery of a message.

    Args:
        consumer: gives the message's key and session.
        message: becomes the JSON body.
        delivery_count: 1 on the first delivery.
        suffix: ends the MessageId after a `~`, such as `copy1`: the same message sent another time.
    """
    message_id = message_id_of(consumer.key(message), request_hash(message))
    return Delivery(
        message_id=message_id if suffix is None else f"{message_id}~{suffix}",
        session_id=consumer.partition_of(message),
        sequence_number=1,
        delivery_count=delivery_count,
        body=msgspec.json.encode(to_document(message)),
    )
