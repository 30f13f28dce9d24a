"""What a running function needs from outside: one warmed set of clients per process and event loop.

Nothing is made at import. A client belongs to the loop that it was made in; the Functions worker has one loop, tests
have many.
"""

import asyncio
import os
import random
import sys
import time
import uuid
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from shared.idempotency.errors import ConfigurationError
from shared.settings import Settings
from shared.telemetry import quiet_sdks

if TYPE_CHECKING:
    from azure.servicebus.aio import ServiceBusClient

    from shared.convoy.cache import StateCache
    from shared.cosmos.client import Database
    from shared.idempotency.time_limited_store import TimeLimitedSearchableStore
    from shared.servicebus.sender import QueueProbe, QueueSender
    from shared.servicebus.settlement import Settlement


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SystemRandom:
    """The machine's randomness."""

    def attempt_id(self) -> str:
        """32 hex digits."""
        return uuid.uuid4().hex

    def fraction(self) -> float:
        """From 0 up to 1."""
        return random.random()  # noqa: S311 - spreads waits, hides nothing


class Runtime:
    """Clients of one event loop, each made at its first use and kept.

    A client's module is imported where the client is made: a function pays only for what it uses.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        self.random = SystemRandom()
        self._stores: dict[str, TimeLimitedSearchableStore] = {}
        self._caches: dict[str, StateCache] = {}
        self._senders: dict[str, QueueSender] = {}
        self._probes: dict[str, QueueProbe] = {}

    def store(self, container: str) -> "TimeLimitedSearchableStore":
        """The store of a container."""
        from shared.cosmos.store import CosmosStore
        from shared.idempotency.time_limited_store import TimeLimitedSearchableStore

        if container not in self._stores:
            store = CosmosStore(self._database, container)
            self._stores[container] = TimeLimitedSearchableStore(
                store, call_seconds=self.settings.limits.store_call_seconds
            )
        return self._stores[container]

    def cache(self, container: str) -> "StateCache":
        """The state documents of a container that this process wrote last."""
        from shared.convoy.cache import StateCache

        if container not in self._caches:
            self._caches[container] = StateCache()
        return self._caches[container]

    def sender(self, queue: str) -> "QueueSender":
        """The sender of a queue."""
        from shared.servicebus.sender import QueueSender

        if queue not in self._senders:
            self._senders[queue] = QueueSender(self._service_bus, queue, send_seconds=self.settings.send_seconds)
        return self._senders[queue]

    def probe(self, queue: str) -> "QueueProbe":
        """What asks the broker for a queue."""
        from shared.servicebus.sender import QueueProbe

        if queue not in self._probes:
            self._probes[queue] = QueueProbe(self._service_bus, queue, probe_seconds=self.settings.send_seconds)
        return self._probes[queue]

    @cached_property
    def settlement(self) -> "Settlement":
        """The host's settlement service.

        Raises:
            ConfigurationError: this process is not a Functions worker.
        """
        from shared.servicebus.settlement import Settlement, settlement_target

        target = settlement_target(sys.argv)
        if target is None:
            raise ConfigurationError("no --functions-uri on the command line: dead-lettering needs a Functions host")
        return Settlement(target, deadline_seconds=self.settings.settlement_seconds)

    @cached_property
    def _database(self) -> "Database":
        from shared.cosmos.client import Database, open_client

        client = open_client(self.settings.cosmos, call_seconds=self.settings.limits.store_call_seconds)
        return Database(client, self.settings.cosmos.database)

    @cached_property
    def _service_bus(self) -> "ServiceBusClient":
        from shared.servicebus.client import open_client

        return open_client(self.settings.service_bus)


_runtimes: WeakKeyDictionary[asyncio.AbstractEventLoop, Runtime] = WeakKeyDictionary()


def runtime() -> Runtime:
    """The running loop's clients.

    Raises:
        ConfigurationError: a setting is missing or wrong; names each.
    """
    loop = asyncio.get_running_loop()
    found = _runtimes.get(loop)
    if found is None:
        found = _runtimes[loop] = Runtime(Settings.from_env(os.environ))
        quiet_sdks()
    return found
