"""Messages per second of sessions that live long: 50 sessions of 40 messages, each with its state, marker and event.

Each message reads the state (1 call) and commits three documents (1 call).
"""

from collections.abc import Iterator

from bench.figures import Figure
from bench.load import Load
from bench.messages import empty_message, grant_message
from bench.stacks import measured_stack

SESSIONS = 50
MESSAGES = 2_000
WARM_UP = 200


def run() -> Iterator[Figure]:
    """Measure on a stack with the app's own host.json."""
    with measured_stack() as stack, Load(stack, "points") as points, Load(stack, "empty") as empty:
        points.seconds((grant_message(MESSAGES + n, n) for n in range(WARM_UP)), in_flight=WARM_UP)
        empty.seconds((empty_message(MESSAGES + n, n) for n in range(WARM_UP)), in_flight=WARM_UP)
        grants = (grant_message(number, number % SESSIONS) for number in range(MESSAGES))
        granted = MESSAGES / points.seconds(grants, in_flight=MESSAGES)
        nothings = (empty_message(number, number % SESSIONS) for number in range(MESSAGES))
        did_nothing = MESSAGES / empty.seconds(nothings, in_flight=MESSAGES)
        yield Figure(f"{SESSIONS} sessions", granted, "messages/s")
        yield Figure(f"{SESSIONS} sessions, empty function", did_nothing, "messages/s")
        yield Figure(f"{SESSIONS} sessions, to empty function", granted / did_nothing, "ratio")
