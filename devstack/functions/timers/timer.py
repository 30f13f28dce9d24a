"""One timer: runs its function whenever it is due, one run at a time.

A run that was missed while the host was down comes at the start, as past due. A run that fails is logged, and the next
one comes at its time.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from devstack.functions import wire
from devstack.functions.app_settings import SettingError, resolve
from devstack.functions.invocations import Invocations
from devstack.functions.timers.schedule import ScheduleError, is_tracked, next_after, parse_schedule
from devstack.functions.timers.status import StatusFile, TimerStatus
from devstack.functions.triggers import TimerTrigger
from devstack.functions.watched_task import watched_task


class Timer:
    """Start it, and stop it once."""

    def __init__(
        self, trigger: TimerTrigger, *, app_settings: Mapping[str, str], invocations: Invocations, state: Path
    ) -> None:
        """Read the schedule.

        Raises:
            SettingError: it needs a setting that is missing, or cannot be read.
        """
        where = f"function {trigger.function.name}"
        text = resolve(trigger.schedule, where=where, settings=app_settings)
        try:
            self._schedule: Final = parse_schedule(text)
            self._tracked: Final = is_tracked(self._schedule, _now())
        except ScheduleError as error:
            raise SettingError(f"{where}: schedule {text!r}: {error}") from None
        self._text: Final = text
        self._function: Final = trigger.function
        self._invocations: Final = invocations
        self._file: Final = StatusFile(state / "timers.json")
        self._task: asyncio.Task[None] | None = None
        self._is_running = False
        self._is_finishing = False

    def start(self, on_failure: Callable[[BaseException], None]) -> None:
        """Serve the timer from now on; ``on_failure`` is told what it died of, which is a fault of this host."""
        self._task = watched_task(self._serve(), on_failure)

    async def finish(self) -> None:
        """Begin no further run, and wait for the one that goes on."""
        self._is_finishing = True
        if self._task is not None:
            if not self._is_running:
                self._task.cancel()
            await asyncio.wait([self._task])

    def close(self) -> None:
        """Cut what still runs."""
        if self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        status = self._file.read(self._function.name, self._text) if self._tracked else None
        if status is None:
            status = TimerStatus(None, next_after(self._schedule, _now()), _now())
            self._keep(status)
        elif status.next < _now():
            status = await self._run(status, is_past_due=True)
        while not self._is_finishing:
            await asyncio.sleep((status.next - _now()).total_seconds())
            # A sleep may end a moment early; a run before its time would be due again at once.
            if _now() >= status.next:
                status = await self._run(status, is_past_due=False)

    async def _run(self, status: TimerStatus, *, is_past_due: bool) -> TimerStatus:
        info = {
            "Schedule": {"AdjustForDST": True},
            "ScheduleStatus": status.fields() if self._tracked else None,
            "IsPastDue": is_past_due,
        }
        self._is_running = True
        try:
            await self._invocations.run(self._function, wire.JsonData(json.dumps(info)))
        finally:
            self._is_running = False
        ended = _now()
        following = TimerStatus(ended, next_after(self._schedule, max(status.next, ended)), ended)
        self._keep(following)
        return following

    def _keep(self, status: TimerStatus) -> None:
        if self._tracked:
            self._file.write(self._function.name, self._text, status)


def _now() -> datetime:
    return datetime.now(UTC)
