"""When a timer is due: times worked out by hand, and the law that nothing is left out."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.functions.timers.schedule import Cron, ScheduleError, is_tracked, next_after, parse_schedule


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        ("0 * * * * *", "2026-03-02 09:30:00", "2026-03-02 09:31:00"),
        ("0 * * * * *", "2026-03-02 09:30:59.999", "2026-03-02 09:31:00"),
        ("* * * * *", "2026-03-02 09:30:01", "2026-03-02 09:31:00"),
        ("*/15 * * * * *", "2026-03-02 09:30:15", "2026-03-02 09:30:30"),
        ("0 */5 * * * *", "2026-03-02 09:57:00", "2026-03-02 10:00:00"),
        ("0 10/20 * * * *", "2026-03-02 09:31:00", "2026-03-02 09:50:00"),
        ("0 0 8-10 * * *", "2026-03-02 10:00:00", "2026-03-03 08:00:00"),
        ("0 30 9,17 * * *", "2026-03-02 09:30:00", "2026-03-02 17:30:00"),
        ("0 0 0 1 * *", "2026-12-01 00:00:00", "2027-01-01 00:00:00"),
        # 2026-03-02 is a Monday, 1; Sunday is 0.
        ("0 0 9 * * 1-5", "2026-03-06 09:00:00", "2026-03-09 09:00:00"),
        ("0 0 9 * * 0", "2026-03-02 09:00:00", "2026-03-08 09:00:00"),
        ("0 0 0 29 2 *", "2026-03-01 00:00:00", "2028-02-29 00:00:00"),
        ("00:00:10", "2026-03-02 09:30:00.5", "2026-03-02 09:30:10.5"),
        ("01:00:00", "2026-03-02 23:30:00", "2026-03-03 00:30:00"),
    ],
)
def test_the_next_time(schedule: str, after: str, due: str) -> None:
    assert next_after(parse_schedule(schedule), at(after)) == at(due)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "five or six fields"),
        ("* * * *", "five or six fields"),
        ("60 * * * * *", "second: 60 is not within 0 to 59"),
        ("* * 24 * * *", "hour: 24"),
        ("* * * 0 * *", "day: 0"),
        ("* * * * * 7", "day of week: 7"),
        ("*/0 * * * * *", r"second: \*/0"),
        ("5-1 * * * * *", "second: 5-1"),
        ("MON * * * * *", "second: MON cannot be read"),
        ("00:00:00", "more than"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        parse_schedule(text)


def test_a_day_that_never_comes_is_refused() -> None:
    with pytest.raises(ScheduleError, match="never due"):
        next_after(parse_schedule("0 0 0 30 2 *"), at("2026-03-02"))


@pytest.mark.parametrize(
    ("text", "tracked"), [("0 * * * * *", True), ("00:01:00", True), ("*/30 * * * * *", False), ("00:00:59", False)]
)
def test_a_status_is_kept_from_a_minute_on(text: str, tracked: bool) -> None:
    assert is_tracked(parse_schedule(text), at("2026-03-02 09:30:07")) is tracked


lists = st.lists(st.integers(0, 59), min_size=1, max_size=3).map(lambda numbers: ",".join(map(str, numbers)))


@given(
    lists | st.just("*"), lists | st.just("*/7"), st.sampled_from(["*", "3", "9-17", "*/5"]), st.datetimes(
        min_value=datetime(2026, 1, 1), max_value=datetime(2030, 1, 1)  # noqa: DTZ001 - UTC is put in
    ),
)  # fmt: skip
def test_it_is_later_it_matches_and_nothing_before_it_does(second: str, minute: str, hour: str, time: datetime) -> None:
    cron = parse_schedule(f"{second} {minute} {hour} * * *")
    assert isinstance(cron, Cron)
    start = time.replace(tzinfo=UTC)
    due = next_after(cron, start)
    assert due > start
    assert (due.second in cron.seconds, due.minute in cron.minutes, due.hour in cron.hours) == (True, True, True)
    # Walked second by second, for the first hour at most.
    candidate = start.replace(microsecond=0) + timedelta(seconds=1)
    for _ in range(3600):
        if candidate == due:
            break
        assert not (
            candidate.second in cron.seconds and candidate.minute in cron.minutes and candidate.hour in cron.hours
        )
        candidate += timedelta(seconds=1)
