"""How long a delivery waits, and how often it tries.

The wait stands before the try, under the session lock that the host renews: so the crashes of a message that kills
its worker are spaced, and bystanders finish in between.
"""

from dataclasses import dataclass
from typing import Final

JITTER: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one delivery.

    Attributes:
        wait_seconds_max: longest wait before the try of a redelivery.
        try_seconds: how long one delivery goes on trying.
        tries_max: how often it tries within that time.
        pause_seconds: pause after the first failed try; doubles with each.
        store_call_seconds: how long one store call may take.
        drain_seconds: how long one delivery goes on applying what has fallen due.
        parked_max: how many messages of one partition may wait for their turn.
    """

    wait_seconds_max: float = 110.0
    try_seconds: float = 5.0
    tries_max: int = 6
    pause_seconds: float = 0.05
    store_call_seconds: float = 4.0
    drain_seconds: float = 20.0
    parked_max: int = 100


def wait_before_try(delivery_count: int, *, limits: Limits, fraction: float) -> float:
    """Seconds that a delivery waits before its first try: 0, then 2, 4, 8, ... and up to 10 % more.

    Args:
        delivery_count: 1 on the first delivery.
        limits: bounds the wait.
        fraction: from 0 up to 1, spreads instances that were thrown back together.
    """
    if delivery_count <= 1:
        return 0.0
    # The exponent is bounded before it is used: 2**(10**9) would never return.
    doubled = 2.0 ** min(delivery_count - 1, 32)
    return min(doubled, limits.wait_seconds_max) * (1.0 + JITTER * fraction)


def pause_before_next_try(tries: int, *, limits: Limits, asked_seconds: float) -> float:
    """Seconds between two tries of one delivery: at least what the store asked for.

    Args:
        tries: how many tries have failed, from 1.
        limits: gives the first pause.
        asked_seconds: what the store asked for, 0 where it said nothing.
    """
    return max(asked_seconds, limits.pause_seconds * 2.0 ** min(tries - 1, 32))
