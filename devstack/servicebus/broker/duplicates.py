"""Duplicate detection: which message ids came within the window.

It compares the message id alone, as Service Bus does: another body under the same id is dropped as well.
"""

from datetime import datetime, timedelta


class DuplicateHistory:
    """The message ids of the last `window`."""

    def __init__(self, window: timedelta) -> None:
        self._window = window
        # In order of their expiry, because the window is the same for all.
        self._expiry: dict[str, datetime] = {}

    def add(self, message_id: str, now: datetime) -> bool:
        """Remember an id; False when it is a duplicate, whose window is then not extended."""
        self._forget_old(now)
        if message_id in self._expiry:
            return False
        self._expiry[message_id] = now + self._window
        return True

    def _forget_old(self, now: datetime) -> None:
        while self._expiry:
            oldest = next(iter(self._expiry))
            if self._expiry[oldest] > now:
                return
            del self._expiry[oldest]
