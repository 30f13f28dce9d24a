"""The limits of host.json on HTTP requests.

``outstanding_max`` bounds the requests that run or wait, ``requests_max`` those that run.
Source: Azure Functions host, HttpThrottleMiddleware (429 with X-FUNCTION-SCALEOUT when full).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Final

from devstack.functions.host_json import HttpSettings


class TooManyRequestsError(Exception):
    """No room for a further request: answer 429."""


class Throttle:
    """Counts requests against the limits."""

    def __init__(self, settings: HttpSettings) -> None:
        self._outstanding_max: Final = settings.outstanding_max
        self._outstanding = 0
        self._running: Final = (
            nullcontext() if settings.requests_max is None else asyncio.Semaphore(settings.requests_max)
        )

    @asynccontextmanager
    async def admit(self) -> AsyncIterator[None]:
        """Hold a place while the request runs, waiting for one if the limit on running requests says so.

        Raises:
            TooManyRequestsError: as many requests as allowed are outstanding.
        """
        if self._outstanding_max is not None and self._outstanding >= self._outstanding_max:
            raise TooManyRequestsError
        self._outstanding += 1
        try:
            async with self._running:
                yield
        finally:
            self._outstanding -= 1
