"""A broker core with its clock, and short ways to use it."""

from collections.abc import Iterable
from datetime import timedelta

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.broker.broker import Broker
from devstack.servicebus.broker.events import BrokerEvent, Delivered, SessionGranted
from devstack.servicebus.broker.messages import StoredMessage
from devstack.servicebus.broker.plain_queue import PlainQueue
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue
from devstack.servicebus.broker.settings import QueueSettings
from devstack.tests.servicebus.kit import CountedIds, ManualClock, message

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


def send(bench: Bench, *texts: str, session_id: str = "s") -> None:
    for text in texts:
        bench.sessions.enqueue([message(text, message_id=text, session_id=session_id)])
