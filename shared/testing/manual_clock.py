"""Time and randomness that a test controls."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Final

_START: Final = datetime(2025, 1, 1, tzinfo=UTC)


class ManualClock:
    """A clock that stands still until somebody sleeps on it or advances it.

    Attributes:
        slept: every sleep so far, in seconds.
    """

    def __init__(self, start: datetime = _START) -> None:
        """A clock at `start`.

        Raises:
            ValueError: `start` has no offset.
        """
        if start.tzinfo is None:
            raise ValueError("start: must have an offset, such as UTC")
        self._start = start.astimezone(UTC)
        self._elapsed_seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        """The time in UTC."""
        return self._start + timedelta(seconds=self._elapsed_seconds)

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._elapsed_seconds

    def advance(self, seconds: float) -> None:
        """Move on.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError("seconds: must not be negative")
        self._elapsed_seconds += seconds

    async def sleep(self, seconds: float) -> None:
        """Move on at once, and let other tasks run, as a real sleep does."""
        self.advance(seconds)
        self.slept.append(seconds)
        await asyncio.sleep(0)


class SequenceRandom:
    """Attempt ids in sequence, and jitter from a seed: the same seed gives the same run."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - jitter of a test
        self._attempts = 0

    def attempt_id(self) -> str:
        """`attempt-1`, `attempt-2`, ..."""
        self._attempts += 1
        return f"attempt-{self._attempts}"

    def fraction(self) -> float:
        """A number from 0 up to 1."""
        return self._random.random()
