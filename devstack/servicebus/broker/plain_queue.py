"""A queue without sessions: every message has a lock of its own, which outlives the receiver's link.

Source: Azure docs, "Message transfers, locks, and settlement"; SDK Azure.Messaging.ServiceBus 7.21.0 settles over
`$management` after a reconnect and relies on the lock being there.
"""

from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush
from uuid import UUID

from devstack.servicebus.broker.deadlines import Deadline
from devstack.servicebus.broker.errors import MessageLockLostError
from devstack.servicebus.broker.events import Delivered
from devstack.servicebus.broker.messages import StoredMessage
from devstack.servicebus.broker.outcomes import Abandon, Outcome
from devstack.servicebus.broker.queue import Queue, Surroundings
from devstack.servicebus.broker.settings import QueueSettings


@dataclass(slots=True, eq=False)
class Consumer:
    """A receiver that competes with others; `demand` says how many more messages it wants now."""

    demand: int = 0


@dataclass(slots=True, eq=False)
class _MessageLock:
    message: StoredMessage
    locked_until: datetime
    deadline: Deadline


class PlainQueue(Queue):
    """Messages go to whoever asks, lowest sequence number first, consumers taking turns."""

    def __init__(self, settings: QueueSettings, surroundings: Surroundings, dead_letters: Queue | None) -> None:
        super().__init__(settings, surroundings, dead_letters)
        self._ready: list[int] = []
        self._hungry: dict[Consumer, None] = {}
        self._locks: dict[UUID, _MessageLock] = {}

    def set_demand(self, consumer: Consumer, demand: int) -> None:
        """Say how many more messages a consumer wants; 0 makes it pause, or leave. Its locks stay."""
        consumer.demand = demand
        if demand > 0:
            self._hungry[consumer] = None
            self._dispatch()
        else:
            self._hungry.pop(consumer, None)

    def locked_until(self, lock_token: UUID) -> datetime:
        """Return until when a lock holds.

        Raises:
            MessageLockLostError: there is no such lock (any more).
        """
        return self._lock(lock_token).locked_until

    def renew(self, lock_token: UUID) -> datetime:
        """Extend a lock, and return until when it holds.

        Raises:
            MessageLockLostError: there is no such lock (any more).
        """
        lock = self._lock(lock_token)
        self._surroundings.deadlines.cancel(lock.deadline)
        lock.locked_until, lock.deadline = self._plan_expiry(lock_token)
        return lock.locked_until

    def settle(self, lock_token: UUID, outcome: Outcome) -> None:
        """Apply an outcome to the message under this lock."""
        lock = self._lock(lock_token)
        self._check_outcome(outcome)
        self._surroundings.deadlines.cancel(lock.deadline)
        del self._locks[lock_token]
        self._apply(lock.message, outcome)

    def _lock(self, lock_token: UUID) -> _MessageLock:
        lock = self._locks.get(lock_token)
        if lock is None:
            raise MessageLockLostError(f"The lock {lock_token} is invalid: it expired, or the message was settled.")
        return lock

    def _make_ready(self, message: StoredMessage) -> None:
        heappush(self._ready, message.sequence_number)
        self._dispatch()

    def _dispatch(self) -> None:
        while self._ready and self._hungry:
            consumer = next(iter(self._hungry))
            del self._hungry[consumer]
            consumer.demand -= 1
            if consumer.demand > 0:
                self._hungry[consumer] = None
            message = self._messages[heappop(self._ready)]
            token = self._surroundings.new_id()
            self._locks[token] = _MessageLock(message, *self._plan_expiry(token))
            self._surroundings.events.append(Delivered(consumer, token, message))

    def _plan_expiry(self, lock_token: UUID) -> tuple[datetime, Deadline]:
        locked_until = self._surroundings.clock() + self.settings.lock_duration
        deadline = self._surroundings.deadlines.add(locked_until, lambda: self.settle(lock_token, Abandon()))
        return locked_until, deadline
