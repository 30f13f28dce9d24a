"""When a timer is due: NCRONTAB expressions of five or six fields, and intervals ``hh:mm:ss``. Times are UTC.

Served: ``*``, ``n``, ``a-b``, ``*/n``, ``a-b/n`` and lists of these. Names of months and days are not.
Source: "Timer trigger for Azure Functions", NCRONTAB expressions; measured on host 4.1037.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

_FIELDS: Final = (("second", 0, 59), ("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12))
_WEEKDAY: Final = ("day of week", 0, 6)
_PART: Final = re.compile(r"(?:\*|(\d+)(?:-(\d+))?)(?:/(\d+))?")
_INTERVAL: Final = re.compile(r"(\d{1,2}):(\d{2}):(\d{2})")
_DAYS_MAX: Final = 366 * 8
"""Between two 29ths of February."""


class ScheduleError(ValueError):
    """The text is no schedule that this host serves; the text names the field."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Every so often, counted from the last time."""

    every: timedelta


@dataclass(frozen=True, slots=True)
class Cron:
    """Whenever all fields match; weekdays count from Sunday, 0."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]


type Schedule = Interval | Cron


def parse_schedule(text: str) -> Schedule:
    """Read a schedule.

    Raises:
        ScheduleError: it cannot be read.
    """
    if found := _INTERVAL.fullmatch(text):
        hours, minutes, seconds = map(int, found.groups())
        every = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if not every:
            raise ScheduleError("an interval must be more than 00:00:00")
        return Interval(every)
    fields = text.split()
    if len(fields) == 5:
        fields = ["0", *fields]
    if len(fields) != 6:
        raise ScheduleError("write five or six fields, or an interval hh:mm:ss")
    values = [_values(field, *rule) for field, rule in zip(fields, (*_FIELDS, _WEEKDAY), strict=True)]
    return Cron(*values)


def next_after(schedule: Schedule, time: datetime) -> datetime:
    """The first time after ``time`` at which the schedule is due.

    Raises:
        ScheduleError: it never is, as on a 30th of February.
    """
    match schedule:
        case Interval(every):
            return time + every
        case Cron():
            return _next_match(schedule, time)
        case _:
            assert_never(schedule)


def is_tracked(schedule: Schedule, now: datetime) -> bool:
    """Whether the host keeps a status, so that a missed run is noticed: not under a minute."""
    first = next_after(schedule, now)
    return next_after(schedule, first) - first >= timedelta(minutes=1)


def _next_match(cron: Cron, time: datetime) -> datetime:
    candidate = time.replace(microsecond=0) + timedelta(seconds=1)
    for _ in range(_DAYS_MAX):
        if candidate.month in cron.months and candidate.day in cron.days and _weekday(candidate) in cron.weekdays:
            for hour in sorted(hour for hour in cron.hours if hour >= candidate.hour):
                start = candidate if hour == candidate.hour else candidate.replace(hour=hour, minute=0, second=0)
                if (found := _in_hour(cron, start)) is not None:
                    return found
        candidate = candidate.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    raise ScheduleError("it is never due")


def _in_hour(cron: Cron, start: datetime) -> datetime | None:
    for minute in sorted(minute for minute in cron.minutes if minute >= start.minute):
        least = start.second if minute == start.minute else 0
        for second in sorted(second for second in cron.seconds if second >= least):
            return start.replace(minute=minute, second=second)
    return None


def _weekday(time: datetime) -> int:
    return time.isoweekday() % 7


def _values(field: str, name: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for part in field.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            raise ScheduleError(f"{name}: {field} cannot be read")
        first, last, step = (None if group is None else int(group) for group in found.groups())
        start = low if first is None else first
        end = high if first is None or (last is None and step is not None) else last if last is not None else first
        if not low <= start <= end <= high or step == 0:
            raise ScheduleError(f"{name}: {field} is not within {low} to {high}")
        values |= set(range(start, end + 1, step or 1))
    return frozenset(values)
