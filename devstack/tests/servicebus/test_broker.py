"""The broker core under a clock that is moved by hand."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import pytest

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.broker.broker import Broker
from devstack.servicebus.broker.errors import (
    EntityNotFoundError,
    InvalidMessageError,
    MessageLockLostError,
    NotAllowedError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)
from devstack.servicebus.broker.events import BrokerEvent, Delivered, SessionGranted, SessionTimedOut
from devstack.servicebus.broker.messages import StoredMessage
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Release
from devstack.servicebus.broker.plain_queue import Consumer, PlainQueue
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue
from devstack.servicebus.broker.settings import QueueSettings
from devstack.tests.servicebus.kit import START, CountedIds, ManualClock, message, queue

MINUTE = timedelta(minutes=1)


class Bench:
    """A broker with its clock."""

    def __init__(self, *queues: QueueSettings) -> None:
        self.clock = ManualClock()
        self.broker = Broker(queues, clock=self.clock, new_id=CountedIds())

    @property
    def sessions(self) -> SessionQueue:
        found = self.broker.queue("orders")
        assert isinstance(found, SessionQueue)
        return found

    @property
    def plain(self) -> PlainQueue:
        found = self.broker.queue("plain")
        assert isinstance(found, PlainQueue)
        return found

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.broker.expire()

    def events(self) -> list[BrokerEvent]:
        taken = []
        while (event := self.broker.take_event()) is not None:
            taken.append(event)
        return taken

    def accept(self, session_id: str | None = None) -> SessionLock:
        """Lock a session that is available now."""
        if session_id is None:
            self.sessions.request_next(MINUTE)
        else:
            self.sessions.request(session_id)
        (granted,) = self.events()
        assert isinstance(granted, SessionGranted)
        return granted.lock

    def receive(self, lock: SessionLock, count: int = 1) -> list[Delivered]:
        self.sessions.set_demand(lock, count)
        return deliveries(self.events())


def deliveries(events: Iterable[BrokerEvent]) -> list[Delivered]:
    return [event for event in events if isinstance(event, Delivered)]


def bodies(messages: Iterable[StoredMessage]) -> list[object]:
    return [Message(each.content).body_sections[0].value for each in messages]


def is_lost(lock: SessionLock) -> bool:
    return lock.is_lost


def sent(bench: Bench, *texts: str, session_id: str = "s") -> None:
    for text in texts:
        bench.sessions.enqueue([message(text, message_id=text, session_id=session_id)])


@pytest.fixture
def bench() -> Bench:
    return Bench(queue("orders"), queue("plain", requires_session=False))


def test_a_session_delivers_in_order_to_its_holder(bench: Bench) -> None:
    sent(bench, "a", "b", "c")
    lock = bench.accept()
    assert (lock.session_id, lock.locked_until) == ("s", START + MINUTE)
    received = bench.receive(lock, 2)
    assert bodies(each.message for each in received) == [b"a", b"b"]
    assert [each.message.sequence_number for each in received] == [1, 2]
    for each in received:
        bench.sessions.settle_held(lock, each.lock_token, Complete())
    assert bodies(bench.sessions.peek(0, 10)) == [b"c"]


def test_one_session_has_one_holder(bench: Bench) -> None:
    sent(bench, "a")
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
        sent(bench, name, session_id=name)
    assert [bench.accept().session_id for _ in range(3)] == ["x", "y", "z"]


def test_a_waiting_request_gets_the_session_that_becomes_available(bench: Bench) -> None:
    first, second = bench.sessions.request_next(MINUTE), bench.sessions.request_next(MINUTE)
    sent(bench, "a", session_id="x")
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
    sent(bench, "a")
    assert bench.events() == []


def test_a_cancelled_request_takes_no_session(bench: Bench) -> None:
    request = bench.sessions.request_next(MINUTE)
    bench.sessions.cancel(request)
    sent(bench, "a")
    assert bench.events() == []
    assert bench.accept().session_id == "s"


def test_abandon_counts_and_the_message_comes_first_again(bench: Bench) -> None:
    sent(bench, "a", "b")
    lock = bench.accept()
    (first,) = bench.receive(lock)
    bench.sessions.settle_held(lock, first.lock_token, Abandon())
    (again,) = bench.receive(lock)
    assert bodies([again.message]) == [b"a"]
    assert again.message.delivery_count == 1
    assert again.lock_token != first.lock_token


def test_the_last_failed_delivery_dead_letters(bench: Bench) -> None:
    sent(bench, "a", "b")
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
    sent(bench, "a")
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
    sent(bench, "a", "b")
    for count_failure, expected in ((False, 0), (True, 1)):
        lock = bench.accept()
        bench.receive(lock, 2)
        bench.sessions.release(lock, count_failure=count_failure)
        assert [each.delivery_count for each in bench.sessions.peek(0, 9)] == [expected, expected]
        bench.sessions.release(lock, count_failure=True)  # it is lost already
    assert [each.delivery_count for each in bench.sessions.peek(0, 9)] == [1, 1]


def test_released_messages_count_nothing(bench: Bench) -> None:
    sent(bench, "a")
    lock = bench.accept()
    (delivered,) = bench.receive(lock)
    bench.sessions.settle_held(lock, delivered.lock_token, Release())
    (again,) = bench.receive(lock)
    assert again.message.delivery_count == 0


def test_an_expired_session_goes_to_the_next_with_its_count_raised(bench: Bench) -> None:
    sent(bench, "a", "b")
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
    sent(bench, "a")
    lock = bench.accept()
    bench.advance(40)
    assert bench.sessions.renew(lock) == START + timedelta(seconds=100)
    bench.advance(59)
    assert not is_lost(lock)
    bench.advance(1)
    assert is_lost(lock)


def test_a_token_settles_once(bench: Bench) -> None:
    sent(bench, "a")
    lock = bench.accept()
    (delivered,) = bench.receive(lock)
    bench.sessions.settle_held(lock, delivered.lock_token, Complete())
    with pytest.raises(MessageLockLostError):
        bench.sessions.settle_held(lock, delivered.lock_token, Complete())
    with pytest.raises(MessageLockLostError):
        bench.sessions.settle(UUID(int=0), Complete())


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
        sent(bench, str(number), session_id=str(number % 2))
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
