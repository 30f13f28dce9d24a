"""The local host with an empty function, against the real one on the same work and as many cores.

Source of the real host's figures: measured on host 4.1037 with an empty async Python function, on 2 cores.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bench.figures import Figure
from bench.load import Load
from bench.messages import empty_message
from bench.stacks import measured_stack


class Work(NamedTuple):
    """One row: settings of the listener, messages, and what the real host does with them per second."""

    sessions_max: int
    idle_seconds: float
    sessions: int
    messages: int
    real_per_second: float


ROWS = (
    Work(8, 1.0, 100, 100, 8),
    Work(8, 0.1, 200, 200, 71),
    Work(64, 0.1, 600, 600, 414),
    Work(256, 0.25, 1_000, 1_000, 515),
    Work(64, 0.1, 50, 2_000, 781),
    Work(64, 1.0, 50, 2_000, 821),
)
WARM_UP = 64


def run() -> Iterator[Figure]:
    """Measure each row on a stack of its own."""
    for row in ROWS:
        stack = measured_stack(sessions_max=row.sessions_max, idle_seconds=row.idle_seconds)
        with stack as running, Load(running, "empty") as load:
            warm_up = (empty_message(row.messages + n, n % row.sessions_max) for n in range(WARM_UP))
            load.seconds(warm_up, in_flight=WARM_UP)
            messages = (empty_message(n, n % row.sessions) for n in range(row.messages))
            rate = row.messages / load.seconds(messages, in_flight=row.messages)
        what = (
            f"{row.sessions_max} slots, {row.idle_seconds} s idle, {row.messages} messages in {row.sessions} sessions"
        )
        yield Figure(what, rate, "messages/s")
        yield Figure(f"{what}, to the real host's {row.real_per_second:.0f}", rate / row.real_per_second, "ratio")
