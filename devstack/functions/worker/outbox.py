"""Messages on their way to the host, in the order in which any thread posted them."""

import asyncio
from collections import deque

from devstack.functions.wire import WorkerMessage


class Outbox:
    """A queue that every thread may post to and the event loop reads."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # One deque keeps the order: a record logged before the answer arrives before it.
        self._messages = deque[WorkerMessage]()
        self._posted = asyncio.Event()

    def post(self, message: WorkerMessage) -> None:
        """Queue ``message``; callable from any thread."""
        self._messages.append(message)
        self._loop.call_soon_threadsafe(self._posted.set)

    async def next(self) -> WorkerMessage:
        """The oldest message; waits for one."""
        while not self._messages:
            self._posted.clear()
            if not self._messages:
                await self._posted.wait()
        return self._messages.popleft()
