"""Whether an order costs the same when there are many: orders per second at 1,000 and up to 200,000 orders.

End to end, on one stack that keeps everything: documents, duplicate detection's memory, logs.
"""

from collections.abc import Iterator

from bench.figures import Figure
from bench.load import Load
from bench.messages import order_message
from bench.stacks import measured_stack

STEPS = (1_000, 10_000, 50_000, 100_000, 200_000)
WINDOW = 500
IN_FLIGHT = 256
CHUNK = 2_000


def run() -> Iterator[Figure]:
    """Place orders up to each step, and measure the last five hundred before it."""
    with measured_stack() as stack, Load(stack, "orders") as orders:
        first_rate = 0.0
        placed = 0
        for step in STEPS:
            while placed < step - WINDOW:
                end = min(placed + CHUNK, step - WINDOW)
                orders.seconds(map(order_message, range(placed, end)), in_flight=IN_FLIGHT)
                placed = end
            rate = WINDOW / orders.seconds(map(order_message, range(placed, step)), in_flight=IN_FLIGHT)
            placed = step
            first_rate = first_rate or rate
            yield Figure(f"the last {WINDOW:,} of {step:,}", rate, "orders/s")
        yield Figure(f"{STEPS[-1]:,} orders to {STEPS[0]:,}", rate / first_rate, "ratio")
