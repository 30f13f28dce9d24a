"""One locked session, as a receiver of its messages."""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from devstack.servicebus.amqp.events import (
    DeliveryConfirmed,
    LinkAttached,
    LinkDetached,
    LinkEvent,
    MessageArrived,
)
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import DeliveryState, Rejected, Source
from devstack.servicebus.amqp.types import Symbol, Timestamp, UInt, Value
from devstack.servicebus.client.errors import (
    ServiceBusClientError,
    SettlementRejected,
    link_error,
    settlement_error,
)
from devstack.servicebus.client.outcomes import Delivery, Outcome, wire_outcome

if TYPE_CHECKING:
    from devstack.servicebus.client.management import Management
    from devstack.servicebus.client.wire import Wire

_SESSION_FILTER: Final = Symbol("com.microsoft:session-filter")
_LOCKED_UNTIL: Final = Symbol("com.microsoft:locked-until-utc")
_DOTNET_EPOCH: Final = datetime(1, 1, 1, tzinfo=UTC)


class SessionReceiver:
    """One locked session: its messages come one at a time, in order. Made by `Connection.accept_session`.

    Attributes:
        session_id: which session it is.
        locked_until: when the lock expires unless it is renewed; aware, UTC.
    """

    def __init__(
        self, wire: "Wire", entity: str, session_id: str | None, timeout_seconds: float, management: "Management"
    ) -> None:
        self.session_id = ""
        self.locked_until = _DOTNET_EPOCH
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wire = wire
        self._management = management
        self._session = wire.engine.begin_session()
        self._link = self._session.attach_receiver(
            wire.new_name(entity),
            Source(entity, filter={_SESSION_FILTER: session_id}),
            properties={Symbol("com.microsoft:timeout"): UInt(int(timeout_seconds * 1000))},
        )
        self._inbox: deque[Delivery] = deque()
        self._delivery_ids: dict[UUID, int] = {}
        self._echoes: dict[int, asyncio.Future[DeliveryState | None]] = {}
        self._changed = asyncio.Event()
        self._error: ServiceBusClientError | None = None
        wire.listen(self._link, self)
        wire.flush()

    async def receive(self, timeout_seconds: float) -> Delivery | None:
        """Take the next message; None when none came in time, and then no credit is left behind.

        When this is cancelled, a message that comes nevertheless is the next call's.

        Raises:
            ConnectionLost: the connection is gone.
        """
        self._raise_if_gone()
        if not self._inbox:
            if self._link.credit < 1:
                self._link.grant(1)
                self._wire.flush()
            try:
                async with asyncio.timeout(timeout_seconds):
                    await self._until(lambda: bool(self._inbox))
            except TimeoutError:
                await self._drain()
        return self._inbox.popleft() if self._inbox else None

    async def settle(self, delivery: Delivery, outcome: Outcome) -> None:
        """Settle a delivery and wait until the broker says that it did.

        Raises:
            SessionLockLost: the lock expired before; the message comes again.
            SettlementRejected: the broker refused for another reason, or it was settled before.
            ConnectionLost: unknown whether it was applied.
        """
        self._raise_if_gone()
        delivery_id = self._delivery_ids.get(delivery.lock_token)
        if delivery_id is None:
            raise SettlementRejected("amqp:not-found", "The delivery is not this receiver's, or was settled.")
        echo = self._echoes[delivery_id] = asyncio.get_running_loop().create_future()
        try:
            async with self._wire.operation():
                self._link.dispose(delivery_id, wire_outcome(outcome))
                self._wire.flush()
                state = await echo
            # Not before: whoever gave up waiting leaves it to the next to settle.
            del self._delivery_ids[delivery.lock_token]
        finally:
            del self._echoes[delivery_id]
        if isinstance(state, Rejected) and state.error is not None:
            raise settlement_error(state.error)

    async def renew_lock(self) -> datetime:
        """Extend the lock, and return until when it holds.

        Raises:
            SessionLockLost: the lock expired before.
            RequestRefused: the broker refused for another reason.
            ConnectionLost: the connection is gone.
        """
        self._raise_if_gone()
        body: dict[Value, Value] = {"session-id": self.session_id}
        answer = await self._management.request("renew-session-lock", body, link_name=self._link.name)
        expiration = answer.get("expiration")
        if isinstance(expiration, Timestamp):
            self.locked_until = datetime.fromtimestamp(expiration / 1000, UTC)
        return self.locked_until

    async def close(self) -> None:
        """Give the session back; its unsettled messages keep their delivery count. Never raises.

        The broker does it before it acts on anything that is sent later on this connection.
        """
        if not self._wire.closed.is_set():
            self._link.detach()
            self._session.end()
            self._wire.flush()

    def on_event(self, event: LinkEvent) -> None:
        """Act on an event of the link."""
        match event:
            case LinkAttached():
                self._on_attached()
            case LinkDetached(_, error):
                self.on_lost(link_error(error))
            case MessageArrived():
                token = UUID(bytes_le=event.delivery_tag)
                self._delivery_ids[token] = event.delivery_id
                self._inbox.append(Delivery(token, Message.parse(event.payload)))
            case DeliveryConfirmed(_, delivery_id, state):
                echo = self._echoes.get(delivery_id)
                if echo is not None and not echo.done():
                    echo.set_result(state)
            case _:
                pass
        self._changed.set()

    def on_lost(self, error: ServiceBusClientError) -> None:
        """Fail everything that waits."""
        self._error = error
        self._changed.set()
        if not self.accepted.done():
            self.accepted.set_exception(error)
        for echo in self._echoes.values():
            if not echo.done():
                echo.set_exception(error)

    def _on_attached(self) -> None:
        attach = self._link.remote
        if attach is None or not isinstance(attach.source, Source):
            raise RuntimeError("a link is attached without source")
        self.session_id = str((attach.source.filter or {}).get(_SESSION_FILTER))
        locked_until = (attach.properties or {}).get(_LOCKED_UNTIL)
        if isinstance(locked_until, int):
            self.locked_until = _DOTNET_EPOCH + timedelta(microseconds=locked_until // 10)
        if not self.accepted.done():
            self.accepted.set_result(None)

    async def _drain(self) -> None:
        """Take the credit back; the message that is under way already comes first."""
        if self._link.credit < 1:
            return
        async with self._wire.operation():
            self._link.grant(self._link.credit, drain=True)
            self._wire.flush()
            await self._until(lambda: self._link.credit < 1)

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._raise_if_gone()
            self._changed.clear()
            await self._changed.wait()

    def _raise_if_gone(self) -> None:
        self._wire.raise_if_closed()
        if self._error is not None:
            raise self._error
