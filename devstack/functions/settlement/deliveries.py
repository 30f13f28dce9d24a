"""The deliveries whose function is running, by lock token.

A token is known only while its function runs: after that, the host has settled or given up the message.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from devstack.servicebus.client import Abandon, Complete, DeadLetter, Delivery, SessionReceiver


class RunningDelivery:
    """One delivery and whether it is settled.

    The app and the host may both want to settle it. The lock lets one go after the other, so that the host
    sees what became of a settlement that the app did not wait for.
    """

    def __init__(self, receiver: SessionReceiver, delivery: Delivery) -> None:
        self._receiver: Final = receiver
        self._delivery: Final = delivery
        self._lock: Final = asyncio.Lock()
        self._is_settled = False

    async def settle(self, outcome: Complete | Abandon | DeadLetter) -> None:
        """Settle as the app asks; a second time is the broker's to refuse.

        Raises:
            SessionLockLost, SettlementRejected, ConnectionLost: as the client says.
        """
        async with self._lock:
            await self._receiver.settle(self._delivery, outcome)
            self._is_settled = True

    async def settle_if_unsettled(self, outcome: Complete | Abandon) -> None:
        """Settle by the function's end, unless the app has settled.

        Raises:
            SessionLockLost, SettlementRejected, ConnectionLost: as the client says.
        """
        async with self._lock:
            if not self._is_settled:
                await self._receiver.settle(self._delivery, outcome)
                self._is_settled = True


class RunningDeliveries:
    """Finds a running delivery by its lock token."""

    def __init__(self) -> None:
        self._by_token = dict[UUID, RunningDelivery]()

    def find(self, lock_token: UUID) -> RunningDelivery | None:
        """The delivery, None when its function is not running."""
        return self._by_token.get(lock_token)

    @contextmanager
    def running(self, receiver: SessionReceiver, delivery: Delivery) -> Iterator[RunningDelivery]:
        """Make the delivery known while its function runs."""
        entry = RunningDelivery(receiver, delivery)
        self._by_token[delivery.lock_token] = entry
        try:
            yield entry
        finally:
            del self._by_token[delivery.lock_token]
