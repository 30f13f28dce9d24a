"""What follows when the worker dies.

Source: measured on Azure Functions host 4.1037 (restart at once, 10 s spacing, the third crash recycles the
host); the 30 minutes are read in its sources (error threshold).
"""

from dataclasses import dataclass
from typing import Final

RESTART_SPACING_SECONDS: Final = 10.0
CRASHES_MAX: Final = 3
FORGIVEN_AFTER_SECONDS: Final = 30 * 60.0


@dataclass(frozen=True)
class Restart:
    """Start a new worker after ``delay_seconds``."""

    delay_seconds: float


@dataclass(frozen=True)
class Recycle:
    """Give up: the host ends, and something outside starts it again."""


@dataclass(frozen=True)
class CrashHistory:
    """The crashes that still count, and when a worker was last restarted (monotonic seconds)."""

    crashes: int = 0
    last_crash: float | None = None
    last_restart: float | None = None

    def after_crash(self, now: float) -> tuple["CrashHistory", Restart | Recycle]:
        """The history with a crash at ``now``, and what to do."""
        forgiven = self.last_crash is not None and now - self.last_crash >= FORGIVEN_AFTER_SECONDS
        crashes = 1 if forgiven else self.crashes + 1
        if crashes >= CRASHES_MAX:
            return CrashHistory(crashes, now, self.last_restart), Recycle()
        spaced = now if self.last_restart is None else max(now, self.last_restart + RESTART_SPACING_SECONDS)
        return CrashHistory(crashes, now, spaced), Restart(spaced - now)
