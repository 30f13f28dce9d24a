"""Random histories of a queue with sessions, held against a model: no loss, one holder, in order."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from devstack.servicebus.broker.broker import Broker
from devstack.servicebus.broker.errors import SessionCannotBeLockedError, SessionLockLostError
from devstack.servicebus.broker.events import Delivered, SessionGranted, SessionTimedOut
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Outcome, Release
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue, SessionRequest
from devstack.tests.servicebus.kit import CountedIds, ManualClock, message, queue

SESSIONS = st.sampled_from(["x", "y"])
MAX_DELIVERY_COUNT = 3
LOCK_SECONDS = 60


class SessionHistories(RuleBasedStateMachine):
    """The model knows for every message where it has to be, and for every session who holds it."""

    holders = Bundle("holders")
    in_hand = Bundle("in_hand")

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        settings = queue(max_delivery_count=MAX_DELIVERY_COUNT)
        self.broker = Broker([settings], clock=self.clock, new_id=CountedIds())
        found = self.broker.queue("orders")
        assert isinstance(found, SessionQueue)
        self.queue = found
        self.live: dict[int, str] = {}
        self.failures: dict[int, int] = {}
        self.completed: set[int] = set()
        self.dead: set[int] = set()
        self.held: dict[str, SessionLock] = {}
        self.out: dict[SessionLock, list[Delivered]] = {}
        self.waiting: list[SessionRequest] = []
        self.granted: list[SessionLock] = []

    @initialize()
    def start(self) -> None:
        assert self.broker.next_deadline() is None

    def drain(self) -> list[Delivered]:
        delivered: list[Delivered] = []
        while (event := self.broker.take_event()) is not None:
            match event:
                case SessionGranted(request, lock):
                    assert lock.session_id not in self.held, "two holders of one session"
                    if request in self.waiting:
                        assert self.waiting[0] is request, "an earlier request was passed over"
                        self.waiting.remove(request)
                    self.held[lock.session_id] = lock
                    self.out[lock] = []
                    self.granted.append(lock)
                case SessionTimedOut(request):
                    self.waiting.remove(request)
                case Delivered(lock, _, stored):
                    assert isinstance(lock, SessionLock)
                    assert self.held.get(lock.session_id) is lock, "a message for one who does not hold"
                    number = stored.sequence_number
                    out = {each.message.sequence_number for each in self.out[lock]}
                    ready = [each for each, owner in self.live.items() if owner == lock.session_id and each not in out]
                    assert number == min(ready), "not the oldest message of the session"
                    assert stored.delivery_count == self.failures[number]
                    self.out[lock].append(event)
                    delivered.append(event)
        return delivered

    def fail(self, number: int) -> None:
        self.failures[number] += 1
        if self.failures[number] >= MAX_DELIVERY_COUNT:
            del self.live[number]
            self.dead.add(number)

    @contextmanager
    def losing(self, lock: SessionLock, *, counts: bool) -> Iterator[None]:
        """Tell the model first that a holder goes: others may get the session in the same step."""
        if self.held.get(lock.session_id) is lock:
            del self.held[lock.session_id]
            for each in self.out.pop(lock):
                if counts:
                    self.fail(each.message.sequence_number)
        yield
        self.drain()

    @rule(session_id=SESSIONS, count=st.integers(1, 3))
    def send(self, session_id: str, count: int) -> None:
        for number in range(len(self.failures) + 1, len(self.failures) + count + 1):
            self.live[number] = session_id
            self.failures[number] = 0
        assert self.queue.enqueue([message(session_id=session_id)] * count) == count
        self.drain()

    @rule(target=holders, session_id=SESSIONS)
    def accept_by_id(self, session_id: str) -> SessionLock:
        if session_id in self.held:
            try:
                self.queue.request(session_id)
            except SessionCannotBeLockedError:
                return self.held[session_id]
            raise AssertionError("a held session was granted")
        self.queue.request(session_id)
        self.drain()
        return self.held[session_id]

    @rule(seconds=st.integers(0, 90))
    def ask_for_next(self, seconds: int) -> None:
        request = self.queue.request_next(timedelta(seconds=seconds))
        self.waiting.append(request)
        if any(owner not in self.held for owner in self.live.values()):
            # Something is available, so nobody else waits: the grant is immediate.
            assert self.waiting == [request]
        self.drain()

    @precondition(lambda self: self.granted)
    @rule(target=holders)
    def take_granted(self) -> SessionLock:
        return self.granted.pop()

    @rule(target=in_hand, lock=holders, count=st.integers(1, 4), goes_on=st.booleans())
    def receive(self, lock: SessionLock, count: int, goes_on: bool) -> MultipleResults[tuple[SessionLock, Delivered]]:
        self.queue.set_demand(lock, count)
        delivered = self.drain()
        if not goes_on:
            self.queue.set_demand(lock, 0)
        return multiple(*((lock, each) for each in delivered))

    @rule(
        pair=consumes(in_hand),
        outcome=st.sampled_from([Complete(), Abandon(), DeadLetter("r"), Release()]),
    )
    def settle(self, pair: tuple[SessionLock, Delivered], outcome: Outcome) -> None:
        lock, delivered = pair
        number = delivered.message.sequence_number
        if self.held.get(lock.session_id) is not lock:
            try:
                self.queue.settle_held(lock, delivered.lock_token, outcome)
            except SessionLockLostError:
                return
            raise AssertionError("a message was settled under a lost lock")
        self.out[lock].remove(delivered)
        match outcome:
            case Complete():
                del self.live[number]
                self.completed.add(number)
            case DeadLetter():
                del self.live[number]
                self.dead.add(number)
            case Abandon():
                self.fail(number)
            case Release():
                pass
        self.queue.settle_held(lock, delivered.lock_token, outcome)
        self.drain()

    @rule(lock=holders, is_clean=st.booleans())
    def go(self, lock: SessionLock, is_clean: bool) -> None:
        with self.losing(lock, counts=not is_clean):
            self.queue.release(lock, count_failure=not is_clean)

    @rule(lock=holders)
    def renew(self, lock: SessionLock) -> None:
        if self.held.get(lock.session_id) is lock:
            assert self.queue.renew(lock) == self.clock.now + timedelta(seconds=LOCK_SECONDS)

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds: int) -> None:
        # Second by second, so that a session granted by one expiry can itself expire later.
        for _ in range(seconds):
            self.clock.advance(1)
            for lock in list(self.held.values()):
                if lock.locked_until <= self.clock.now:
                    del self.held[lock.session_id]
                    for each in self.out.pop(lock):
                        self.fail(each.message.sequence_number)
            self.broker.expire()
            self.drain()

    @invariant()
    def nothing_is_lost(self) -> None:
        assert [each.sequence_number for each in self.queue.peek(0, 1000)] == sorted(self.live)
        dead = self.broker.dead_letter_queue("orders").peek(0, 1000)
        assert {each.sequence_number for each in dead} == self.dead
        assert self.live.keys() | self.dead | self.completed == self.failures.keys()

    @invariant()
    def nobody_waits_for_what_is_there(self) -> None:
        if any(owner not in self.held for owner in self.live.values()):
            assert not self.waiting


TestSessionHistories = SessionHistories.TestCase
TestSessionHistories.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
