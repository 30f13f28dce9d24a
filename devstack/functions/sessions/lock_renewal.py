"""Keep a session's lock while the session is held, busy or idle, up to a limit counted from its accept.

When the limit is over the lock runs out under a running function, and another slot may accept the session:
the same message then runs twice at once. That is the real host's behaviour, measured on host 4.1037.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from devstack.servicebus.client import ServiceBusClientError, SessionReceiver

_BUFFER_MAX: Final = timedelta(seconds=10)
_log = logging.getLogger("Host.ServiceBus")


def renewal_delay(remaining: timedelta) -> timedelta:
    """How long to wait before the next renewal of a lock that holds for ``remaining``.

    A 30 s lock is renewed after 20 s, a 5 s lock after 2.5 s. Source: Azure.Messaging.ServiceBus,
    ReceiverManager.CalculateRenewDelay; measured on host 4.1037.
    """
    return max(remaining - min(remaining / 2, _BUFFER_MAX), timedelta(0))


@asynccontextmanager
async def renewed(
    receiver: SessionReceiver,
    *,
    limit: timedelta,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncIterator[None]:
    """Renew the lock in the background until the block ends or ``limit`` is over."""
    renewal = asyncio.create_task(_renew(receiver, until=clock() + limit, clock=clock))
    try:
        yield
    finally:
        renewal.cancel()


async def _renew(receiver: SessionReceiver, *, until: datetime, clock: Callable[[], datetime]) -> None:
    while True:
        delay = renewal_delay(receiver.locked_until - clock())
        if clock() + delay >= until:
            return
        await asyncio.sleep(delay.total_seconds())
        try:
            await receiver.renew_lock()
        except ServiceBusClientError as error:
            # The session's own loop learns it from its next receive or settlement.
            _log.warning("Session %s: lock not renewed (%s: %s)", receiver.session_id, type(error).__name__, error)
            return
