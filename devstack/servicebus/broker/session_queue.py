"""A queue with sessions: one receiver holds a session at a time, and its lock covers all messages it was given.

Source: Azure docs, "Message sessions". Giving a session back counts no delivery; an expired lock does. A dropped
connection frees the session at once and counts a delivery.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from uuid import UUID

from devstack.servicebus.broker.deadlines import Deadline
from devstack.servicebus.broker.errors import (
    MessageLockLostError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)
from devstack.servicebus.broker.events import Delivered, SessionGranted, SessionTimedOut
from devstack.servicebus.broker.messages import StoredMessage
from devstack.servicebus.broker.outcomes import Abandon, Outcome, Release
from devstack.servicebus.broker.queue import Queue, Surroundings
from devstack.servicebus.broker.settings import QueueSettings


@dataclass(slots=True, eq=False)
class SessionRequest:
    """Someone who asks for a session; `lock` is set as soon as there is one."""

    deadline: Deadline | None = None
    lock: "SessionLock | None" = None


@dataclass(slots=True, eq=False)
class SessionLock:
    """One receiver's hold on a session.

    Attributes:
        demand: how many more messages the receiver wants now.
        is_lost: the lock expired or was given back; nothing more is delivered or settled by it.
    """

    session_id: str
    locked_until: datetime
    deadline: Deadline
    demand: int = 0
    is_lost: bool = False
    held: dict[UUID, StoredMessage] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Session:
    session_id: str
    lock: SessionLock | None = None
    ready: list[int] = field(default_factory=list)


class SessionQueue(Queue):
    """Messages of one session go, in order, to the one receiver that holds it."""

    def __init__(self, settings: QueueSettings, surroundings: Surroundings, dead_letters: Queue | None) -> None:
        super().__init__(settings, surroundings, dead_letters)
        # A session is here while it has a message that nobody holds, or a holder.
        self._sessions: dict[str, _Session] = {}
        # Sessions without holder, the one that has waited longest first.
        self._available: dict[str, None] = {}
        self._requests: dict[SessionRequest, None] = {}
        self._holders: dict[UUID, SessionLock] = {}

    def request_next(self, timeout: timedelta) -> SessionRequest:
        """Ask for the next available session; the answer is `SessionGranted` or `SessionTimedOut`."""
        request = SessionRequest()
        if self._available:
            self._grant(request, next(iter(self._available)))
        else:
            self._requests[request] = None
            deadlines, now = self._surroundings.deadlines, self._surroundings.clock()
            request.deadline = deadlines.add(now + timeout, lambda: self._time_out(request))
        return request

    def request(self, session_id: str) -> SessionRequest:
        """Ask for a session by its id, which need not have messages; the answer is `SessionGranted`.

        Raises:
            SessionCannotBeLockedError: another receiver holds it.
        """
        session = self._sessions.get(session_id)
        if session is not None and session.lock is not None:
            raise SessionCannotBeLockedError(
                f"The requested session '{session_id}' cannot be accepted. It may be locked by another receiver."
            )
        request = SessionRequest()
        self._grant(request, session_id)
        return request

    def cancel(self, request: SessionRequest) -> None:
        """Stop waiting; a session that was granted in the meantime goes back."""
        self._stop_waiting(request)
        if request.lock is not None:
            self.release(request.lock, count_failure=False)

    def set_demand(self, lock: SessionLock, demand: int) -> None:
        """Say how many more messages the holder wants."""
        lock.demand = demand
        if not lock.is_lost:
            self._dispatch(self._sessions[lock.session_id])

    def renew(self, lock: SessionLock) -> datetime:
        """Extend a session's lock, and return until when it holds.

        Raises:
            SessionLockLostError: it expired before.
        """
        self._require_held(lock)
        self._surroundings.deadlines.cancel(lock.deadline)
        lock.locked_until, lock.deadline = self._plan_expiry(lock.session_id)
        return lock.locked_until

    def release(self, lock: SessionLock, *, count_failure: bool) -> None:
        """Give a session back, with all messages that are not settled. Does nothing when it is lost already.

        Args:
            lock: the hold that ends.
            count_failure: whether this was a failed delivery of those messages.
        """
        if lock.is_lost:
            return
        lock.is_lost, lock.demand = True, 0
        self._surroundings.deadlines.cancel(lock.deadline)
        for token, message in lock.held.items():
            del self._holders[token]
            self._apply(message, Abandon() if count_failure else Release())
        lock.held.clear()
        # Only now, with all its messages back in place, may the session go to someone else.
        session = self._sessions[lock.session_id]
        session.lock = None
        self._offer(session)

    def expire_lock(self, session_id: str) -> bool:
        """End a session's lock, as its time does; returns whether there was one."""
        session = self._sessions.get(session_id)
        if session is None or session.lock is None:
            return False
        self.release(session.lock, count_failure=True)
        return True

    def holder(self, lock_token: UUID) -> SessionLock:
        """Return the lock under which a message was delivered.

        Raises:
            MessageLockLostError: the token is no longer valid.
        """
        lock = self._holders.get(lock_token)
        if lock is None:
            raise MessageLockLostError(f"The lock {lock_token} is invalid: it expired, or the message was settled.")
        return lock

    def settle(self, lock_token: UUID, outcome: Outcome) -> None:
        """Apply an outcome to the message under this lock."""
        lock = self.holder(lock_token)
        self._check_outcome(outcome)
        del self._holders[lock_token]
        self._apply(lock.held.pop(lock_token), outcome)

    def settle_held(self, lock: SessionLock, lock_token: UUID, outcome: Outcome) -> None:
        """Apply an outcome to a message of a session.

        Raises:
            SessionLockLostError: the session's lock expired before.
            MessageLockLostError: the session is held, but not this message.
        """
        self._require_held(lock)
        if lock_token not in lock.held:
            raise MessageLockLostError(f"The lock {lock_token} is invalid: the message was settled.")
        self.settle(lock_token, outcome)

    def _require_held(self, lock: SessionLock) -> None:
        if lock.is_lost:
            raise SessionLockLostError(
                f"The session lock has expired on the session '{lock.session_id}'. Accept a new session."
            )

    def _make_ready(self, message: StoredMessage) -> None:
        session_id = message.session_id
        if session_id is None:
            raise RuntimeError("a message without session is in a queue with sessions")
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        heappush(session.ready, message.sequence_number)
        if session.lock is not None:
            self._dispatch(session)
        else:
            self._offer(session)

    def _offer(self, session: _Session) -> None:
        """Give a session without holder to whoever waits longest, if it has messages."""
        if not session.ready:
            del self._sessions[session.session_id]
        elif self._requests:
            request = next(iter(self._requests))
            self._stop_waiting(request)
            self._grant(request, session.session_id)
        else:
            self._available.setdefault(session.session_id, None)

    def _grant(self, request: SessionRequest, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        self._available.pop(session_id, None)
        lock = SessionLock(session_id, *self._plan_expiry(session_id))
        session.lock = request.lock = lock
        self._surroundings.events.append(SessionGranted(request, lock))

    def _stop_waiting(self, request: SessionRequest) -> None:
        if request in self._requests:
            del self._requests[request]
            if request.deadline is not None:
                self._surroundings.deadlines.cancel(request.deadline)

    def _time_out(self, request: SessionRequest) -> None:
        del self._requests[request]
        self._surroundings.events.append(SessionTimedOut(request))

    def _dispatch(self, session: _Session) -> None:
        lock = session.lock
        while lock is not None and lock.demand > 0 and session.ready:
            lock.demand -= 1
            message = self._messages[heappop(session.ready)]
            token = self._surroundings.new_id()
            lock.held[token] = message
            self._holders[token] = lock
            self._surroundings.events.append(Delivered(lock, token, message))

    def _plan_expiry(self, session_id: str) -> tuple[datetime, Deadline]:
        locked_until = self._surroundings.clock() + self.settings.lock_duration
        return locked_until, self._surroundings.deadlines.add(locked_until, lambda: self.expire_lock(session_id))
