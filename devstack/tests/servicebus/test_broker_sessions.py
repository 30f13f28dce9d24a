"""Queues with sessions under a clock that is moved by hand."""

from datetime import timedelta
from uuid import UUID

import pytest

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.broker.errors import (
    MessageLockLostError,
    NotAllowedError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)
from devstack.servicebus.broker.events import SessionGranted, SessionTimedOut
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Release
from devstack.servicebus.broker.plain_queue import Consumer
from devstack.tests.servicebus.bench import Bench, bodies, deliveries, is_lost, send
from devstack.tests.servicebus.kit import START, message, queue

MINUTE = timedelta(minutes=1)


@pytest.fixture
def bench() -> Bench:
    return Bench(queue("orders"), queue("plain", requires_session=False))


def test_a_session_delivers_in_order_to_its_holder(bench: Bench) -> None:
    send(bench, "a", "b", "c")
    lock = bench.accept()
    assert (lock.session_id, lock.locked_until) == ("s", START + MINUTE)
    received = bench.receive(lock, 2)
    assert bodies(each.message for each in received) == [b"a", b"b"]
    assert [each.message.sequence_number for each in received] == [1, 2]
    for each in received:
        bench.sessions.settle_held(lock, each.lock_token, Complete())
    assert bodies(bench.sessions.peek(0, 10)) == [b"c"]


def test_one_session_has_one_holder(bench: Bench) -> None:
    send(bench, "a")
    bench.accept("s")
    with pytest.raises(SessionCannotBeLockedError):
        bench.sessions.request("s")
    bench.sessions.request_next(MINUTE)
    assert bench.events() == []


def test_a_session_without_messages_can_be_held_by_its_id(bench: Bench) -> None:
    lock = bench.accept("empty")
    assert bench.receive(lock) == []
    bench.sessions.enqueue([message("late", session_id="empty")])
    assert len(deliveries(bench.events())) == 1


def test_sessions_are_granted_in_the_order_they_became_available(bench: Bench) -> None:
    for name in ("x", "y", "z"):
        send(bench, name, session_id=name)
    assert [bench.accept().session_id for _ in range(3)] == ["x", "y", "z"]


def test_a_waiting_request_gets_the_session_that_becomes_available(bench: Bench) -> None:
    first, second = bench.sessions.request_next(MINUTE), bench.sessions.request_next(MINUTE)
    send(bench, "a", session_id="x")
    (granted,) = bench.events()
    assert isinstance(granted, SessionGranted)
    assert granted.request is first
    bench.receive(granted.lock)
    bench.sessions.release(granted.lock, count_failure=False)
    (again,) = bench.events()
    assert isinstance(again, SessionGranted)
    assert (again.request, again.lock.session_id) == (second, "x")


def test_waiting_ends_exactly_in_time(bench: Bench) -> None:
    request = bench.sessions.request_next(timedelta(seconds=5))
    assert bench.broker.next_deadline() == START + timedelta(seconds=5)
    bench.advance(4.999)
    assert bench.events() == []
    bench.advance(0.001)
    assert bench.events() == [SessionTimedOut(request)]
    send(bench, "a")
    assert bench.events() == []


def test_a_cancelled_request_takes_no_session(bench: Bench) -> None:
    request = bench.sessions.request_next(MINUTE)
    bench.sessions.cancel(request)
    send(bench, "a")
    assert bench.events() == []
    assert bench.accept().session_id == "s"


def test_abandon_counts_and_the_message_comes_first_again(bench: Bench) -> None:
    send(bench, "a", "b")
    lock = bench.accept()
    (first,) = bench.receive(lock)
    bench.sessions.settle_held(lock, first.lock_token, Abandon())
    (again,) = bench.receive(lock)
    assert bodies([again.message]) == [b"a"]
    assert again.message.delivery_count == 1
    assert again.lock_token != first.lock_token


def test_the_last_failed_delivery_dead_letters(bench: Bench) -> None:
    send(bench, "a", "b")
    lock = bench.accept()
    for expected in (0, 1, 2):
        (delivered,) = bench.receive(lock)
        assert delivered.message.delivery_count == expected
        bench.sessions.settle_held(lock, delivered.lock_token, Abandon())
    (next_one,) = bench.receive(lock)
    assert bodies([next_one.message]) == [b"b"]
    (dead,) = bench.broker.dead_letter_queue("orders").peek(0, 10)
    assert Message(dead.content).application_properties == {
        "DeadLetterReason": "MaxDeliveryCountExceeded",
        "DeadLetterErrorDescription": "Message could not be consumed after 3 delivery attempts.",
    }
    assert (dead.sequence_number, dead.dead_letter_source, dead.session_id) == (1, "orders", "s")


def test_dead_letters_are_received_without_session_and_stay_until_completed(bench: Bench) -> None:
    send(bench, "a")
    lock = bench.accept()
    (delivered,) = bench.receive(lock)
    outcome = DeadLetter("why", "because", {"more": 1})
    bench.sessions.settle_held(lock, delivered.lock_token, outcome)
    dead_letters, consumer = bench.broker.dead_letter_queue("orders"), Consumer()
    for _ in range(5):  # beyond the maximum of 3: there is nowhere to go from here
        dead_letters.set_demand(consumer, 1)
        (dead,) = deliveries(bench.events())
        dead_letters.settle(dead.lock_token, Abandon())
    dead_letters.set_demand(consumer, 1)
    (dead,) = deliveries(bench.events())
    with pytest.raises(NotAllowedError):
        dead_letters.settle(dead.lock_token, DeadLetter())
    assert Message(dead.message.content).application_properties == {
        "more": 1,
        "DeadLetterReason": "why",
        "DeadLetterErrorDescription": "because",
    }
    dead_letters.settle(dead.lock_token, Complete())
    assert dead_letters.peek(0, 10) == []


def test_a_clean_release_counts_nothing_and_a_lost_connection_does(bench: Bench) -> None:
    send(bench, "a", "b")
    for count_failure, expected in ((False, 0), (True, 1)):
        lock = bench.accept()
        bench.receive(lock, 2)
        bench.sessions.release(lock, count_failure=count_failure)
        assert [each.delivery_count for each in bench.sessions.peek(0, 9)] == [expected, expected]
        bench.sessions.release(lock, count_failure=True)  # it is lost already
    assert [each.delivery_count for each in bench.sessions.peek(0, 9)] == [1, 1]


def test_released_messages_count_nothing(bench: Bench) -> None:
    send(bench, "a")
    lock = bench.accept()
    (delivered,) = bench.receive(lock)
    bench.sessions.settle_held(lock, delivered.lock_token, Release())
    (again,) = bench.receive(lock)
    assert again.message.delivery_count == 0


def test_an_expired_session_goes_to_the_next_with_its_count_raised(bench: Bench) -> None:
    send(bench, "a", "b")
    lost = bench.accept()
    (delivered,) = bench.receive(lost)
    bench.advance(59.999)
    assert not is_lost(lost)
    bench.advance(0.001)
    assert is_lost(lost)
    with pytest.raises(SessionLockLostError):
        bench.sessions.settle_held(lost, delivered.lock_token, Complete())
    with pytest.raises(SessionLockLostError):
        bench.sessions.renew(lost)
    lock = bench.accept()
    received = bench.receive(lock, 2)
    assert [(each.message.sequence_number, each.message.delivery_count) for each in received] == [
        (1, 1),
        (2, 0),
    ]
    assert bench.receive(lost, 5) == []


def test_renewal_extends_the_session(bench: Bench) -> None:
    send(bench, "a")
    lock = bench.accept()
    bench.advance(40)
    assert bench.sessions.renew(lock) == START + timedelta(seconds=100)
    bench.advance(59)
    assert not is_lost(lock)
    bench.advance(1)
    assert is_lost(lock)


def test_a_token_settles_once(bench: Bench) -> None:
    send(bench, "a")
    lock = bench.accept()
    (delivered,) = bench.receive(lock)
    bench.sessions.settle_held(lock, delivered.lock_token, Complete())
    with pytest.raises(MessageLockLostError):
        bench.sessions.settle_held(lock, delivered.lock_token, Complete())
    with pytest.raises(MessageLockLostError):
        bench.sessions.settle(UUID(int=0), Complete())
