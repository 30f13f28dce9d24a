"""One slot of the session listener: accept a session, run its messages one by one, close it when idle.

Function returned -> complete; function failed, or its worker died -> abandon, and the same message comes
again at once with its count raised. The idle time counts from the last settlement.
Source: measured on Azure Functions host 4.1037.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final, assert_never

from devstack.functions import wire
from devstack.functions.binding_data import received_message_data
from devstack.functions.host_json import ServiceBusSettings
from devstack.functions.invocations import Invocations
from devstack.functions.sessions.broker import RETRY_SECONDS, Broker, FaultLog
from devstack.functions.sessions.lock_renewal import renewed
from devstack.functions.sessions.trigger_details import trigger_details
from devstack.functions.settlement.deliveries import RunningDeliveries, RunningDelivery
from devstack.functions.triggers import Function
from devstack.servicebus.client import (
    Abandon,
    Complete,
    Delivery,
    ServiceBusClientError,
    SessionReceiver,
    SettlementRejected,
)

_DEAD_SECONDS: Final = 1.0
_log = logging.getLogger("Host.ServiceBus")


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all slots of a listener share; ``accepts`` bounds the accepts that are outstanding."""

    function: Function
    queue: str
    auto_complete: bool
    settings: ServiceBusSettings
    broker: Broker
    invocations: Invocations
    deliveries: RunningDeliveries
    accepts: asyncio.Semaphore
    faults: FaultLog


class Slot:
    """Holds at most one session at a time."""

    def __init__(self, shared: Shared) -> None:
        self._shared: Final = shared
        self._is_busy = False
        self._is_finishing = False
        self._is_dead = False

    @property
    def is_busy(self) -> bool:
        """Whether a function is running, or its message being settled."""
        return self._is_busy

    def finish(self) -> None:
        """End after the message that is running."""
        self._is_finishing = True

    def die(self) -> None:
        """Take no session any more after the function that is running, as the real listener's slots do."""
        self._is_dead = True

    async def run(self) -> None:
        """Serve sessions until finished or cancelled."""
        while not self._is_finishing:
            if self._is_dead:
                # The words that the real host logs, about 60 times a second.
                _log.error("ServiceBusReceiver has already been closed")
                await asyncio.sleep(_DEAD_SECONDS)
                continue
            receiver = await self._accept()
            if receiver is not None:
                await self._serve(receiver)

    async def _accept(self) -> SessionReceiver | None:
        shared = self._shared
        async with shared.accepts:
            connection = await shared.broker.connection()
            try:
                receiver = await connection.accept_session(
                    shared.queue, timeout_seconds=shared.settings.try_timeout.total_seconds()
                )
            except ServiceBusClientError as error:
                shared.faults.report(error)
                await asyncio.sleep(RETRY_SECONDS)
                return None
            shared.faults.clear()
            return receiver

    async def _serve(self, receiver: SessionReceiver) -> None:
        settings = self._shared.settings
        idle_seconds = settings.session_idle_timeout.total_seconds()
        try:
            async with renewed(receiver, limit=settings.lock_renewal_max):
                while not self._is_finishing:
                    delivery = await receiver.receive(idle_seconds)
                    if delivery is None:
                        break
                    self._is_busy = True
                    await self._process(receiver, delivery)
                    self._is_busy = False
        except ServiceBusClientError as error:
            _log.warning("Session %s given up (%s: %s)", receiver.session_id, type(error).__name__, error)
        finally:
            self._is_busy = False
            await receiver.close()

    async def _process(self, receiver: SessionReceiver, delivery: Delivery) -> None:
        shared = self._shared
        with shared.deliveries.running(receiver, delivery) as running:
            outcome = await shared.invocations.run(
                shared.function,
                received_message_data(delivery),
                details=trigger_details(receiver.session_id, delivery),
            )
        match outcome:
            case wire.Succeeded():
                if shared.auto_complete:
                    await self._settle(running, Complete(), receiver)
            case wire.Failed():
                await self._settle(running, Abandon(), receiver)
            case _:
                assert_never(outcome)

    async def _settle(
        self, running: RunningDelivery, settlement: Complete | Abandon, receiver: SessionReceiver
    ) -> None:
        try:
            await running.settle_if_unsettled(settlement)
        except SettlementRejected as error:
            # The message comes again when its lock is over; the session goes on.
            _log.error("%s in session %s: %s", type(settlement).__name__, receiver.session_id, error)
