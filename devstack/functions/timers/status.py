"""What the host remembers of its timers: when each ran last and is due next, in one file beside the app.

The real host keeps a blob for each; the file is written anew and put in place at once, so that a crash leaves the old
one or the new one.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TimerStatus:
    """When a timer ran last, and when it is due next."""

    last: datetime | None
    next: datetime
    last_updated: datetime

    def fields(self) -> dict[str, str]:
        """As the worker and the file have it; a timer that never ran has the least time."""
        return {
            "Last": (self.last or datetime.min.replace(tzinfo=UTC)).isoformat(),
            "Next": self.next.isoformat(),
            "LastUpdated": self.last_updated.isoformat(),
        }


class StatusFile:
    """The file; one host writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, function: str, schedule: str) -> TimerStatus | None:
        """The status of a function's timer, None if there is none of this schedule that can be read."""
        fields = self._all().get(function, {})
        if fields.get("Schedule") != schedule:
            return None
        try:
            last, following, updated = (
                datetime.fromisoformat(fields[name]) for name in ("Last", "Next", "LastUpdated")
            )
        except (KeyError, TypeError, ValueError):
            return None
        return TimerStatus(None if last.year == 1 else last, following, updated)

    def write(self, function: str, schedule: str, status: TimerStatus) -> None:
        """Keep it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(
            json.dumps(self._all() | {function: {"Schedule": schedule, **status.fields()}}), encoding="utf-8"
        )
        new.replace(self._path)

    def _all(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {name: fields for name, fields in found.items() if isinstance(fields, dict)}
