"""What all queues do, and queues without sessions, under a clock that is moved by hand."""

from datetime import timedelta
from uuid import UUID

import pytest

from devstack.servicebus.broker.errors import (
    EntityNotFoundError,
    InvalidMessageError,
    MessageLockLostError,
    NotAllowedError,
)
from devstack.servicebus.broker.outcomes import Complete
from devstack.servicebus.broker.plain_queue import Consumer
from devstack.tests.servicebus.bench import Bench, bodies, deliveries, send
from devstack.tests.servicebus.kit import START, message, queue

MINUTE = timedelta(minutes=1)


@pytest.fixture
def bench() -> Bench:
    return Bench(queue("orders"), queue("plain", requires_session=False))


def test_consumers_of_a_plain_queue_take_turns(bench: Bench) -> None:
    one, two = Consumer(), Consumer()
    bench.plain.set_demand(one, 2)
    bench.plain.set_demand(two, 2)
    bench.plain.enqueue([message(text) for text in "abcde"])
    assert [each.receiver for each in deliveries(bench.events())] == [one, two, one, two]
    bench.plain.set_demand(two, 1)
    (last,) = deliveries(bench.events())
    assert bodies([last.message]) == [b"e"]


def test_a_plain_lock_expires_and_is_renewed(bench: Bench) -> None:
    consumer = Consumer()
    bench.plain.enqueue([message()])
    bench.plain.set_demand(consumer, 1)
    (delivered,) = deliveries(bench.events())
    bench.advance(30)
    assert bench.plain.renew(delivered.lock_token) == START + timedelta(seconds=90)
    # Leaving keeps the lock: it can still be settled by its token.
    bench.plain.set_demand(consumer, 0)
    bench.advance(60)
    with pytest.raises(MessageLockLostError):
        bench.plain.settle(delivered.lock_token, Complete())
    bench.plain.set_demand(consumer, 1)
    (again,) = deliveries(bench.events())
    assert again.message.delivery_count == 1
    bench.plain.settle(again.lock_token, Complete())
    assert bench.broker.next_deadline() is None


def test_duplicates_are_dropped_within_the_window() -> None:
    bench = Bench(queue("plain", requires_session=False, duplicate_window=timedelta(minutes=5)))
    assert bench.plain.enqueue([message("a", message_id="1"), message("b", message_id="1")]) == 1
    bench.advance(299)
    assert bench.plain.enqueue([message("other", message_id="1")]) == 0
    bench.advance(1)
    assert bench.plain.enqueue([message("late", message_id="1")]) == 1
    assert bodies(bench.plain.peek(0, 9)) == [b"a", b"late"]


def test_without_detection_the_same_id_may_come_twice(bench: Bench) -> None:
    assert bench.plain.enqueue([message(message_id="1"), message(message_id="1")]) == 2


def test_a_message_without_id_gets_one(bench: Bench) -> None:
    bench.plain.enqueue([message(message_id=None)])
    (stored,) = bench.plain.peek(0, 1)
    assert stored.content.message_id == UUID(int=1).hex


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"session_id": None}, "SessionId"),
        ({"session_id": "s" * 129}, "SessionId"),
        ({"message_id": "m" * 129}, "MessageId"),
    ],
)
def test_one_invalid_message_refuses_the_whole_batch(bench: Bench, changes: dict[str, str | None], field: str) -> None:
    valid = message(session_id="s")
    invalid = message(**({"session_id": "s", "message_id": "m"} | changes))  # type: ignore[arg-type]
    with pytest.raises(InvalidMessageError, match=field):
        bench.sessions.enqueue([valid, invalid])
    assert bench.sessions.peek(0, 9) == []


def test_ids_of_128_characters_and_an_empty_session_id_are_fine(bench: Bench) -> None:
    bench.sessions.enqueue([message(message_id="m" * 128, session_id="s" * 128)])
    bench.sessions.enqueue([message(session_id="")])
    assert bench.accept().session_id == "s" * 128
    assert bench.accept().session_id == ""


def test_peek_pages_by_sequence_number_and_by_session(bench: Bench) -> None:
    for number in range(200):
        send(bench, str(number), session_id=str(number % 2))
    lock = bench.accept("0")
    for delivered in bench.receive(lock, 90):
        bench.sessions.settle_held(lock, delivered.lock_token, Complete())
    bench.receive(lock, 1)
    first = bench.sessions.peek(0, 3, "0")
    assert [each.sequence_number for each in first] == [181, 183, 185]  # the locked one is shown as well
    assert [each.sequence_number for each in bench.sessions.peek(186, 3)] == [186, 187, 188]


def test_names_are_found_in_any_case(bench: Bench) -> None:
    assert bench.broker.queue("ORDERS") is bench.sessions
    with pytest.raises(EntityNotFoundError, match="nothing"):
        bench.broker.queue("nothing")
    with pytest.raises(EntityNotFoundError):
        bench.broker.dead_letter_queue("nothing")


def test_a_dead_letter_queue_takes_nothing_from_clients(bench: Bench) -> None:
    with pytest.raises(NotAllowedError):
        bench.broker.dead_letter_queue("orders").enqueue([message()])
