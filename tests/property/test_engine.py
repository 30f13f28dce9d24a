"""Any messages, any schedule of faults: what is stored and settled is what a plain loop over the messages says."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from shared.idempotency.disposition import Complete, DeadLetter
from shared.idempotency.json_text import Json
from shared.idempotency.ports import Document
from shared.testing.crash_points import Fault, Point
from shared.testing.history import History
from shared.testing.invariants import Settled
from shared.testing.skipping_loop import SkippingLoop
from tests.unit.example_consumers import LOYALTY, PointsGranted, grant

MISMATCH = DeadLetter("RequestHashMismatch", "the key was taken by a message with other content")
REJECTED = DeadLetter("NotPositive", "points: must be 0 or more")

grants = st.builds(
    grant,
    st.sampled_from(["g1", "g2", "g3"]),
    points=st.sampled_from([-1, 0, 1, 2, 3]),
    customer=st.sampled_from(["c1", "c2"]),
)
schedules = st.dictionaries(st.integers(1, 40), st.sampled_from(Fault), max_size=20)


@dataclass
class Expected:
    """The rules of the example consumer and of the marker, without engine, store or faults."""

    taken: dict[tuple[str, str], int] = field(default_factory=dict)
    settled: list[bool | DeadLetter] = field(default_factory=list)

    def take(self, message: PointsGranted) -> None:
        place = (message.customer_id, message.grant_id)
        if message.points < 0:
            # Decided before the marker is looked at; the marker then tells a mismatch.
            self.settled.append(MISMATCH if place in self.taken else REJECTED)
        elif place in self.taken:
            self.settled.append(True if self.taken[place] == message.points else MISMATCH)
        else:
            self.taken[place] = message.points
            self.settled.append(True)

    def totals(self) -> dict[str, int]:
        totals: dict[str, int] = {}
        for (customer, _), points in self.taken.items():
            if points > 0:
                totals[customer] = totals.get(customer, 0) + points
        return totals

    def events(self) -> dict[str, list[int]]:
        events: dict[str, list[int]] = {}
        for (customer, _), points in self.taken.items():
            if points > 0:
                events.setdefault(customer, []).append(points)
        return events


def points_of(outbox: Document) -> Json:
    message = outbox["message"]
    assert isinstance(message, dict)
    body = message["body"]
    assert isinstance(body, dict)
    data = body["data"]
    assert isinstance(data, dict)
    return data["points"]


async def check(messages: Sequence[PointsGranted], schedule: dict[int, Fault]) -> None:
    expected = Expected()
    history = History(LOYALTY, [Point(call, fault) for call, fault in schedule.items()])
    settled: list[Settled] = []
    for message in messages:
        expected.take(message)
        settled.append(await history.settle(message, through=history.crashing, deliveries_max=1 + len(schedule)))
    await history.crashing.land_all()
    # Held against the invariants within: markers, numbers, settlements.
    documents = history.result(messages, settled).documents
    await history.send_again(messages, settled)

    assert [True if isinstance(found, Complete) else found for found in settled] == expected.settled
    totals = {place[0]: body["total"] for place, body in documents.items() if body["type"] == "Points"}
    assert totals == expected.totals()
    sent = {
        customer: [points_of(documents[customer, f"out:{number}"]) for number in range(1, len(points) + 1)]
        for customer, points in expected.events().items()
    }
    assert sent == expected.events()


@given(st.lists(grants, min_size=1, max_size=6), schedules)
def test_any_messages_under_any_faults(messages: list[PointsGranted], schedule: dict[int, Fault]) -> None:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(check(messages, schedule))
