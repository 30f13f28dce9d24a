"""The listener of one function: as many slots as host.json allows sessions.

A lost connection costs a session its running message (it comes again) and nothing else: the slot connects
and goes on.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Final

from devstack.functions.app_settings import SettingError, connection_string, resolve
from devstack.functions.host_json import ServiceBusSettings
from devstack.functions.invocations import Invocations
from devstack.functions.sessions.broker import Broker, FaultLog
from devstack.functions.sessions.slot import Shared, Slot
from devstack.functions.settlement.deliveries import RunningDeliveries
from devstack.functions.triggers import SessionTrigger
from devstack.functions.watched_task import watched_task
from devstack.servicebus.connection_string import ConnectionString


class SessionListener:
    """Start it, and stop it once."""

    def __init__(
        self,
        trigger: SessionTrigger,
        *,
        settings: ServiceBusSettings,
        app_settings: Mapping[str, str],
        invocations: Invocations,
        deliveries: RunningDeliveries,
    ) -> None:
        """Resolve the binding.

        Raises:
            SettingError: the queue's name or the connection needs a setting that is missing or malformed.
        """
        where = f"function {trigger.function.name}"
        queue = resolve(trigger.queue_name, where=where, settings=app_settings)
        connection = connection_string(trigger.connection, where=where, settings=app_settings)
        try:
            ConnectionString.parse(connection)
        except ValueError as error:
            raise SettingError(f"{where}: {trigger.connection}: {error}") from None
        self._broker = Broker(connection)
        # Source: Azure.Messaging.ServiceBus, ServiceBusProcessor: at most 2 accepts per core at a time.
        accepts_max = min(settings.sessions_max, 2 * (os.cpu_count() or 1))
        shared = Shared(
            function=trigger.function,
            queue=queue,
            auto_complete=trigger.auto_complete_messages,
            settings=settings,
            broker=self._broker,
            invocations=invocations,
            deliveries=deliveries,
            accepts=asyncio.Semaphore(accepts_max),
            faults=FaultLog(f"Queue {queue}"),
        )
        self._slots: Final = [Slot(shared) for _ in range(settings.sessions_max)]
        self._tasks = dict[asyncio.Task[None], Slot]()

    async def start(self, on_failure: Callable[[BaseException], None]) -> None:
        """Connect, waiting for the broker if need be, and serve sessions.

        ``on_failure`` is told what a slot died of, which is a fault of this host.
        """
        await self._broker.connection()

        for slot in self._slots:
            self._tasks[watched_task(slot.run(), on_failure)] = slot

    def lose_busy_slots(self) -> int:
        """Drop the connection, and let the slots whose function is running die with it; returns how many."""
        busy = [slot for slot in self._slots if slot.is_busy]
        for slot in busy:
            slot.die()
        self._broker.drop()
        return len(busy)

    async def finish(self) -> None:
        """Take no further message, and wait for those that run."""
        for task, slot in self._tasks.items():
            slot.finish()
            if not slot.is_busy:
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cut what still runs (neither completed nor abandoned) and close the connection."""
        for task in self._tasks:
            task.cancel()
        await self._broker.close()
