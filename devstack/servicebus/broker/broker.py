"""The broker: its queues by name, its plan of deadlines, and what it has to report.

The caller drives it: before it acts on input it calls `expire`, after every single action it takes the events, and
it calls `expire` again at `next_deadline`. Nothing happens by itself, so a test moves the clock as it likes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from devstack.servicebus.broker.deadlines import Deadlines
from devstack.servicebus.broker.errors import EntityNotFoundError
from devstack.servicebus.broker.events import BrokerEvent
from devstack.servicebus.broker.plain_queue import PlainQueue
from devstack.servicebus.broker.queue import Surroundings
from devstack.servicebus.broker.session_queue import SessionQueue
from devstack.servicebus.broker.settings import QueueSettings


class Broker:
    """All queues of one namespace.

    Args:
        queues: their settings.
        clock: the time, aware and UTC.
        new_id: a fresh id at every call, for lock tokens and for messages that come without one.
    """

    def __init__(
        self, queues: Iterable[QueueSettings], *, clock: Callable[[], datetime], new_id: Callable[[], UUID]
    ) -> None:
        self._clock = clock
        self._deadlines = Deadlines()
        self._events: deque[BrokerEvent] = deque()
        surroundings = Surroundings(clock, new_id, self._deadlines, self._events)
        self._queues: dict[str, PlainQueue | SessionQueue] = {}
        self._dead_letter_queues: dict[str, PlainQueue] = {}
        for settings in queues:
            # A dead-letter queue never has sessions, whatever its queue has.
            plain = replace(settings, requires_session=False, duplicate_window=None)
            dead_letters = PlainQueue(plain, surroundings, None)
            make = SessionQueue if settings.requires_session else PlainQueue
            self._queues[settings.name.lower()] = make(settings, surroundings, dead_letters)
            self._dead_letter_queues[settings.name.lower()] = dead_letters

    def queue(self, name: str) -> PlainQueue | SessionQueue:
        """Return the queue of that name, in any case.

        Raises:
            EntityNotFoundError: there is none.
        """
        return _found(self._queues, name)

    def dead_letter_queue(self, name: str) -> PlainQueue:
        """Return the dead-letter queue of the queue of that name.

        Raises:
            EntityNotFoundError: there is no such queue.
        """
        return _found(self._dead_letter_queues, name)

    def expire(self) -> None:
        """Do what is due by now: expire locks, end waits."""
        self._deadlines.run_due(self._clock())

    def next_deadline(self) -> datetime | None:
        """Return when `expire` has something to do next; None when nothing is planned."""
        return self._deadlines.next()

    def take_event(self) -> BrokerEvent | None:
        """Take the oldest event; None when there is none."""
        return self._events.popleft() if self._events else None


def _found[Q: PlainQueue | SessionQueue](queues: Mapping[str, Q], name: str) -> Q:
    queue = queues.get(name.lower())
    if queue is None:
        raise EntityNotFoundError(f"The messaging entity '{name}' could not be found.")
    return queue
