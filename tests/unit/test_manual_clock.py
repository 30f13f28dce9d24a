"""The manual clock and the repeatable randomness."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.testing.manual_clock import ManualClock, SequenceRandom


async def test_time_stands_until_it_is_moved() -> None:
    clock = ManualClock(datetime(2024, 2, 29, 12, tzinfo=UTC))
    assert (clock.now(), clock.monotonic()) == (datetime(2024, 2, 29, 12, tzinfo=UTC), 0.0)
    clock.advance(90)
    await clock.sleep(30)
    assert (clock.now(), clock.monotonic()) == (datetime(2024, 2, 29, 12, 2, tzinfo=UTC), 120.0)
    assert clock.slept == [30]


def test_time_is_told_in_utc() -> None:
    clock = ManualClock(datetime(2024, 2, 29, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.now() == datetime(2024, 2, 29, 10, tzinfo=UTC)


def test_a_start_without_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="start: must have an offset, such as UTC"):
        ManualClock(datetime(2024, 2, 29))  # noqa: DTZ001 - the fault under test


async def test_time_does_not_go_back() -> None:
    clock = ManualClock()
    with pytest.raises(ValueError, match="seconds: must not be negative"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="seconds: must not be negative"):
        await clock.sleep(-0.1)
    assert clock.monotonic() == 0


async def test_others_run_while_one_sleeps() -> None:
    order: list[str] = []

    async def sleeper() -> None:
        order.append("sleeps")
        await ManualClock().sleep(3600)
        order.append("wakes")

    async def other() -> None:
        order.append("runs")

    await asyncio.gather(sleeper(), other())
    assert order == ["sleeps", "runs", "wakes"]


def test_randomness_repeats_from_its_seed() -> None:
    first, second, other = SequenceRandom(7), SequenceRandom(7), SequenceRandom(8)
    assert [first.attempt_id() for _ in range(3)] == ["attempt-1", "attempt-2", "attempt-3"]
    fractions = [first.fraction() for _ in range(5)]
    assert fractions == [second.fraction() for _ in range(5)]
    assert fractions != [other.fraction() for _ in range(5)]
    assert all(0 <= fraction < 1 for fraction in fractions)
