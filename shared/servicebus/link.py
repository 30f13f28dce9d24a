"""A warmed link that is used by one caller at a time, bounded in time, and opened anew after any failure.

Source: azure-servicebus 7.15.0 README, "Thread safety": senders and receivers are not safe for concurrent use.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol

_CLOSE_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class Closeable(Protocol):
    """A sender or receiver of the SDK."""

    async def close(self) -> None:
        """Close the link and its connection."""
        ...


class Link[L: Closeable]:
    """One sender or receiver.

    Args:
        open_link: makes a new one; the SDK connects at its first use.
        use_seconds: how long one use may take, waiting for its turn included.
    """

    def __init__(self, open_link: Callable[[], L], *, use_seconds: float) -> None:
        self._open_link = open_link
        self._use_seconds = use_seconds
        self._turn = asyncio.Lock()
        self._link: L | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[L]:
        """Have the link to oneself.

        Raises:
            TimeoutError: `use_seconds` are over. Whatever was being done may or may not have happened.
        """
        async with asyncio.timeout(self._use_seconds), self._turn:
            if self._link is None:
                self._link = self._open_link()
            link = self._link
            try:
                yield link
            except BaseException:
                # Whatever went wrong, cancellation included: what the link is in the middle of is not known.
                self._discard(link)
                raise

    async def close(self) -> None:
        """Close the link and wait for those that were discarded."""
        if self._link is not None:
            self._discard(self._link)
        await asyncio.gather(*self._closing)

    def _discard(self, link: L) -> None:
        # Closed in the middle of this use: once is enough.
        if self._link is not link:
            return
        self._link = None
        # Closing may hang as the use did; nobody waits for it.
        task = asyncio.create_task(_close(link))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _close(link: Closeable) -> None:
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await link.close()
    except Exception as error:  # noqa: BLE001 - the link is given up either way
        _log.info("link discarded, close failed: %s", type(error).__name__)
