"""Waits and pauses, worked out by hand."""

import pytest

from shared.idempotency.backoff import Limits, pause_before_next_try, wait_before_try

LIMITS = Limits()


@pytest.mark.parametrize(
    ("delivery_count", "seconds"),
    [(0, 0), (1, 0), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 110), (25, 110), (10**9, 110)],
)
def test_the_wait_doubles_up_to_its_limit(delivery_count: int, seconds: float) -> None:
    assert wait_before_try(delivery_count, limits=LIMITS, fraction=0.0) == seconds


def test_jitter_adds_up_to_a_tenth() -> None:
    assert wait_before_try(1, limits=LIMITS, fraction=1.0) == 0
    assert wait_before_try(4, limits=LIMITS, fraction=0.5) == pytest.approx(8.4)
    assert wait_before_try(25, limits=LIMITS, fraction=1.0) == pytest.approx(121)


def test_a_smaller_limit_bounds_the_wait() -> None:
    waits = [wait_before_try(count, limits=Limits(wait_seconds_max=5.0), fraction=0.0) for count in range(1, 6)]
    assert waits == [0, 2, 4, 5, 5]


@pytest.mark.parametrize(
    ("deliveries", "crashes", "outage_seconds"),
    [
        # 2 + 4 + 8 + 16 + 32 + 64 = 126, then 18 x 110; a crash costs one delivery's wait.
        (25, 2, 126 + 18 * 110 - 2 * 110),
        (10, 0, 126 + 3 * 110),
    ],
)
def test_the_deliveries_outlast_the_stated_outage(deliveries: int, crashes: int, outage_seconds: float) -> None:
    waits = [wait_before_try(count, limits=LIMITS, fraction=0.0) for count in range(1, deliveries + 1)]
    assert sum(sorted(waits)[: deliveries - crashes]) == outage_seconds
    assert outage_seconds >= (30 * 60 if deliveries == 25 else 7 * 60)


@pytest.mark.parametrize(
    ("tries", "asked", "seconds"),
    [
        (1, 0.0, 0.05),
        (2, 0.0, 0.1),
        (3, 0.0, 0.2),
        (4, 0.0, 0.4),
        (5, 0.0, 0.8),
        (1, 3.0, 3.0),
        (5, 0.3, 0.8),
        (10**9, 0.0, 0.05 * 2**32),
    ],
)
def test_the_pause_doubles_and_is_no_shorter_than_asked(tries: int, asked: float, seconds: float) -> None:
    assert pause_before_next_try(tries, limits=LIMITS, asked_seconds=asked) == pytest.approx(seconds)
