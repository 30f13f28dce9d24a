"""What all connections share: the broker, the keys, and who listens to which of the broker's events."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import assert_never

from devstack.servicebus.broker.broker import Broker
from devstack.servicebus.broker.events import Delivered, SessionGranted, SessionTimedOut
from devstack.servicebus.broker.plain_queue import Consumer
from devstack.servicebus.broker.session_queue import SessionLock, SessionRequest
from devstack.servicebus.faults import FaultBook
from devstack.servicebus.server.endpoint import BrokerListener, Flushable

type Subject = Consumer | SessionLock | SessionRequest


class Namespace:
    """One broker and its listeners.

    Args:
        broker: the core.
        keys: key by key name; any of them grants everything.
        clock: the time, aware and UTC, for the expiry of tokens.
        faults: what a test asked for.
    """

    def __init__(
        self, broker: Broker, keys: Mapping[str, str], clock: Callable[[], datetime], faults: FaultBook
    ) -> None:
        self.broker = broker
        self.keys = keys
        self.clock = clock
        self.faults = faults
        self._listeners: dict[Subject, BrokerListener] = {}
        self._to_flush: dict[Flushable, None] = {}

    def listen(self, subject: Subject, listener: BrokerListener) -> None:
        """Send a subject's events to a listener."""
        self._listeners[subject] = listener

    def forget(self, subject: Subject) -> None:
        """Stop listening to a subject."""
        self._listeners.pop(subject, None)

    def deliver_events(self) -> None:
        """Hand out the broker's events, and those that they bring about.

        It runs after every single action: a session that was granted has its owner before the next frame is read.
        """
        while (event := self.broker.take_event()) is not None:
            subject = event.receiver if isinstance(event, Delivered) else event.request
            listener = self._listeners.get(subject)
            if listener is None:
                # It left after the event came about, and gave back what the event tells of.
                continue
            match event:
                case Delivered():
                    listener.on_delivered(event)
                case SessionGranted():
                    listener.on_granted(event)
                case SessionTimedOut():
                    listener.on_timed_out(event)
                case _:
                    assert_never(event)
            self._to_flush[listener.connection] = None

    def flush(self) -> None:
        """Write out what the handed-out events gave the connections to send."""
        connections, self._to_flush = self._to_flush, {}
        for connection in connections:
            connection.flush()
