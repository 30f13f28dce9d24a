"""Trying within one delivery: a few times within a few seconds; what lasts longer is for another delivery."""

from collections.abc import Awaitable, Callable
from itertools import count

from shared.idempotency.backoff import Limits, pause_before_next_try
from shared.idempotency.disposition import Disposition, Retry, TryAgain
from shared.idempotency.errors import (
    BrokerUnavailableError,
    StoreAccessError,
    StoreUnavailableError,
    TransientError,
)
from shared.idempotency.ports import Clock


async def tried(
    try_once: Callable[[int], Awaitable[Disposition | TryAgain]], *, clock: Clock, limits: Limits
) -> Disposition:
    """Try until there is a disposition; `Retry` when tries or time are used up.

    Args:
        try_once: one try; gets its number, from 1.
        clock: time.
        limits: how often, and for how long.
    """
    deadline = clock.monotonic() + limits.try_seconds
    for number in count(1):
        try:
            step = await try_once(number)
        except (StoreUnavailableError, BrokerUnavailableError) as error:
            step = TryAgain(str(error), error.retry_after_seconds)
        if not isinstance(step, TryAgain):
            return step
        pause = pause_before_next_try(number, limits=limits, asked_seconds=step.pause_seconds)
        if number >= limits.tries_max or clock.monotonic() + pause >= deadline:
            return Retry(step.cause)
        await clock.sleep(pause)
    raise AssertionError("counting has no end")


async def disposed(disposing: Awaitable[Disposition]) -> Disposition:
    """Await a disposition; a passing fault is a `Retry`. What else is raised is the consumer's own fault."""
    try:
        return await disposing
    except StoreAccessError as error:
        return Retry(str(error), alert=True)
    except TransientError as error:
        return Retry(str(error))
