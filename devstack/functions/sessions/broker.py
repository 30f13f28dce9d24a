"""The connection that all session slots of a connection string share."""

import asyncio
import logging
from typing import Final

from devstack.servicebus.client import Connection, ServiceBusClientError

# The real host is back 2 to 4 s after the cause is gone. Source: measured on Azure Functions host 4.1037.
RETRY_SECONDS: Final = 2.0
_log = logging.getLogger("Host.ServiceBus")


class FaultLog:
    """Says what is wrong once, not on every try of every slot, and when it is over."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._reason = ""

    def report(self, error: ServiceBusClientError) -> None:
        """Log ``error`` unless it was the last thing logged."""
        if (reason := f"{type(error).__name__}: {error}") != self._reason:
            _log.error("%s: %s. Trying again every %.0f s.", self._what, reason, RETRY_SECONDS)
        self._reason = reason

    def clear(self) -> None:
        """Log that it works again, if it did not."""
        if self._reason:
            _log.info("%s: recovered.", self._what)
        self._reason = ""


class Broker:
    """Opens the connection, and opens it again when it is lost; tries for ever, as the real host does."""

    def __init__(self, connection_string: str) -> None:
        """``connection_string`` has been checked."""
        self._connection_string = connection_string
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()
        self._faults = FaultLog("Connection to Service Bus")

    async def connection(self) -> Connection:
        """The live connection; waits until there is one."""
        async with self._opening:
            while self._connection is None or self._connection.closed.is_set():
                try:
                    self._connection = await Connection.open(self._connection_string)
                except ServiceBusClientError as error:
                    self._faults.report(error)
                    await asyncio.sleep(RETRY_SECONDS)
            self._faults.clear()
            return self._connection

    def drop(self) -> None:
        """End the connection without a word; the next one who needs it opens another."""
        if self._connection is not None:
            self._connection.abort()

    async def close(self) -> None:
        """Close the connection; the broker releases every session that is still held."""
        if self._connection is not None:
            await self._connection.close()
