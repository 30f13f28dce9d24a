"""A client's receiver on a queue: with a session, or competing with others on a queue without.

The expiry of a session's lock does not detach the link: on any detach the .NET client disposes its receiver, and a
processor's slot whose handler is running never recovers. The link stays attached but dead: its dispositions are
rejected with session-lock-lost, its drains are answered, and the client detaches by itself.

Source: Azure.Messaging.ServiceBus 7.21.0, behaviour measured; azure-servicebus 7.15.0 `_servicebus_receiver`.
"""

import logging
from datetime import timedelta
from typing import Final

from devstack.servicebus.amqp.events import DeliveryUpdated
from devstack.servicebus.amqp.performatives import Error, Source
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.amqp.types import Symbol
from devstack.servicebus.broker.events import Delivered, SessionGranted, SessionTimedOut
from devstack.servicebus.broker.plain_queue import Consumer, PlainQueue
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue, SessionRequest
from devstack.servicebus.server.conditions import TIMEOUT
from devstack.servicebus.server.endpoint import Flushable
from devstack.servicebus.server.namespace import Namespace
from devstack.servicebus.server.payloads import delivered_message, symbol_keys, ticks
from devstack.servicebus.server.settlement import apply_update

_logger = logging.getLogger(__name__)
SESSION_FILTER: Final = Symbol("com.microsoft:session-filter")


class PlainReceiver:
    """Gets messages as far as its credit goes. Its locks outlive the link."""

    def __init__(self, link: SendingLink, queue: PlainQueue, namespace: Namespace, connection: Flushable) -> None:
        self.link = link
        self.connection = connection
        self._queue = queue
        self._namespace = namespace
        self._consumer = Consumer()
        namespace.listen(self._consumer, self)
        link.accept(max_message_size=queue.settings.max_message_bytes)
        self.on_credit()

    def on_credit(self) -> None:
        """Take what the credit allows; a drain then gives the rest of it up."""
        self._queue.set_demand(self._consumer, self.link.credit)
        if self.link.drain:
            self._namespace.deliver_events()
            self._queue.set_demand(self._consumer, 0)
            self.link.drained()

    def on_update(self, event: DeliveryUpdated) -> None:
        """Settle a message."""
        apply_update(event, self._queue.settle, self._namespace.faults.of_settlement())

    def on_delivered(self, event: Delivered) -> None:
        """Send a message."""
        locked_until = self._queue.locked_until(event.lock_token)
        self.link.send(delivered_message(event.message, locked_until), event.lock_token.bytes_le)

    def on_granted(self, event: SessionGranted) -> None:
        """Never happens: it asks for no session."""
        raise RuntimeError("a plain receiver was granted a session")

    def on_timed_out(self, event: SessionTimedOut) -> None:
        """Never happens: it asks for no session."""
        raise RuntimeError("a plain receiver waited for a session")

    def withdraw(self) -> None:
        """Stop competing."""
        self._queue.set_demand(self._consumer, 0)
        self._namespace.forget(self._consumer)

    def on_detached(self, *, is_clean: bool) -> None:
        """Stop competing; locks stay, however the link ended."""
        self.withdraw()


class SessionReceiver:
    """Waits for a session, then gets its messages. The link is attached only when the session is granted."""

    def __init__(self, link: SendingLink, queue: SessionQueue, namespace: Namespace, connection: Flushable) -> None:
        self.link = link
        self.connection = connection
        self.queue = queue
        self.lock: SessionLock | None = None
        self._namespace = namespace
        self._request: SessionRequest | None = None

    def request(self, session_id: str | None, timeout: timedelta) -> None:
        """Ask for a session: the one of that id at once, or the next available within the time.

        Raises:
            SessionCannotBeLockedError: another receiver holds the one asked for.
        """
        if session_id is None:
            self._request = self.queue.request_next(timeout)
        else:
            self._request = self.queue.request(session_id)
        self._namespace.listen(self._request, self)

    def on_granted(self, event: SessionGranted) -> None:
        """Attach, and say which session it is and until when it is locked."""
        self._namespace.forget(event.request)
        if self.link.is_gone:
            # Another link of the same ended session or connection gave this one back a moment ago.
            self.queue.release(event.lock, count_failure=False)
            return
        lock = self.lock = event.lock
        self._namespace.listen(lock, self)
        source = self.link.remote.source if self.link.remote is not None else None
        if not isinstance(source, Source):
            raise TypeError("a session was granted to a link without source")
        # The address stays as the client wrote it: azure-servicebus takes the session id only then.
        source.filter = {**(source.filter or {}), SESSION_FILTER: lock.session_id}
        self.link.accept(
            max_message_size=self.queue.settings.max_message_bytes,
            source=source,
            properties=symbol_keys({"com.microsoft:locked-until-utc": ticks(lock.locked_until)}),
        )
        _logger.debug("%s: session %s accepted", self.queue.settings.name, lock.session_id)
        self.on_credit()

    def on_timed_out(self, event: SessionTimedOut) -> None:
        """Refuse the link."""
        self._namespace.forget(event.request)
        self.link.refuse(
            Error(TIMEOUT, "The operation did not complete within the allotted time: no session is available.")
        )

    def on_credit(self) -> None:
        """Take what the credit allows; a drain then gives the rest of it up, with or without the lock."""
        if self.lock is None:
            return
        self.queue.set_demand(self.lock, self.link.credit)
        if self.link.drain:
            self._namespace.deliver_events()
            self.queue.set_demand(self.lock, 0)
            self.link.drained()

    def on_update(self, event: DeliveryUpdated) -> None:
        """Settle a message."""
        lock = self.lock
        if lock is None:
            raise RuntimeError("a delivery was settled before its session was granted")
        apply_update(
            event,
            lambda token, outcome: self.queue.settle_held(lock, token, outcome),
            self._namespace.faults.of_settlement(),
        )

    def on_delivered(self, event: Delivered) -> None:
        """Send a message, under the session's lock."""
        if self.lock is None:
            raise RuntimeError("a message was delivered before its session was granted")
        payload = delivered_message(event.message, self.lock.locked_until)
        self.link.send(payload, event.lock_token.bytes_le)

    def withdraw(self) -> None:
        """Stop waiting for a session, and take no more messages."""
        if self.lock is not None:
            self.queue.set_demand(self.lock, 0)
        elif self._request is not None:
            self._namespace.forget(self._request)
            self.queue.cancel(self._request)

    def on_detached(self, *, is_clean: bool) -> None:
        """Give the session back at once, or stop waiting for one."""
        self.withdraw()
        if self.lock is not None:
            self._namespace.forget(self.lock)
            self.queue.release(self.lock, count_failure=not is_clean)
