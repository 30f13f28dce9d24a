"""New orders per second end to end: one message per session, with 1, 16 and 256 in flight.

From the producer's send until the host has completed the message. The empty function in the same run shows what the
local host and broker can do at all.
"""

from collections.abc import Iterator

from bench.figures import Figure
from bench.load import Load
from bench.messages import empty_message, order_message
from bench.stacks import measured_stack

COUNTS = {1: 100, 16: 1_000, 256: 3_000}
WARM_UP = 200


def run() -> Iterator[Figure]:
    """Measure on a stack with the app's own host.json."""
    with measured_stack() as stack, Load(stack, "orders") as orders, Load(stack, "empty") as empty:
        orders.seconds(map(order_message, range(WARM_UP)), in_flight=WARM_UP)
        empty.seconds((empty_message(n, n) for n in range(WARM_UP)), in_flight=WARM_UP)
        first = WARM_UP
        for in_flight, count in COUNTS.items():
            numbers = range(first, first + count)
            first += count
            placed = count / orders.seconds(map(order_message, numbers), in_flight=in_flight)
            did_nothing = count / empty.seconds((empty_message(n, n) for n in numbers), in_flight=in_flight)
            yield Figure(f"{in_flight} in flight", placed, "orders/s")
            yield Figure(f"{in_flight} in flight, empty function", did_nothing, "messages/s")
            yield Figure(f"{in_flight} in flight, orders to empty function", placed / did_nothing, "ratio")
