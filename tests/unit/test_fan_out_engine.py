"""Fan-out: whole or not at all, in order, from where the record ends; calls and writes are counted."""

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.errors import BrokerUnavailableError, StoreUnavailableError
from shared.idempotency.ports import AccessDenied, Conflict, OutcomeUnknown, PartitionFull, Refused, Throttled
from shared.testing.memory_queue import MemoryQueue
from tests.unit.ledgers import (
    LEDGER,
    TWO_OPERATIONS,
    FanOutBench,
    changed,
    operation,
    part_of,
    raw_delivery,
    sent_ids,
    walk,
)
from tests.unit.scripted_store import Applied, Script

PART = part_of(walk())
BATCHES = [2, 2, 2]


class Failing(MemoryQueue):
    """A queue that does not confirm some of the sends, by their numbers; what is `lost` is accepted all the same."""

    def __init__(self, *, down: tuple[int, ...] = (), lost: tuple[int, ...] = ()) -> None:
        super().__init__(batch_bytes_max=TWO_OPERATIONS)
        self._down, self._lost, self._calls = down, lost, 0

    async def send_batch(self, messages):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - as the port's
        self._calls += 1
        if self._calls in self._down:
            raise BrokerUnavailableError("broker: ServiceBusConnectionError")
        accepted = await super().send_batch(messages)
        if self._calls in self._lost:
            raise BrokerUnavailableError("broker: TimeoutError")
        return accepted


async def test_all_is_sent_in_order_with_one_send_one_call_and_one_write_for_each_batch() -> None:
    bench = FanOutBench()
    handled = await bench.handle(PART)
    assert handled.disposition == Complete("applied")
    assert bench.queue.message_ids == sent_ids(PART.operations)
    assert bench.queue.batches == BATCHES
    # One call and one write more for the part: what says that its key is taken.
    assert bench.store.calls == ["commit part:1"] * (1 + len(BATCHES))
    assert bench.memory.writes == 1 + len(BATCHES)
    assert handled.figures == {"faulty_lines": 0, "batches": 3, "sent": 6}
    assert (handled.key, handled.partition) == (f"{LEDGER}.1", LEDGER)


async def test_the_messages_are_those_of_a_producer() -> None:
    bench = FanOutBench()
    await bench.handle(PART)
    first = bench.queue.accepted[0]
    assert (first.session_id, first.subject) == ("A1", "TransactionAdded")
    assert b'"operationId":"A1-2"' in first.body


async def test_the_document_says_how_far_it_came() -> None:
    bench = FanOutBench(queue=Failing(down=(3, 4, 5, 6, 7, 8)))
    assert (await bench.handle(PART)).disposition == Retry("broker: ServiceBusConnectionError")
    document = bench.document()
    assert (document["state"], document["sent"], document["total"]) == ("sending", 4, 6)
    assert (document["source"], document["part"], document["parts"]) == ("shop-7", 1, 1)
    await FanOutBench(beside=bench).handle(PART, count=2)
    assert (bench.document()["state"], bench.document()["sent"]) == ("sent", 6)


@pytest.mark.parametrize(("count", "calls"), [(1, ["commit part:1", "read part:1"]), (2, ["read part:1"])])
async def test_a_duplicate_sends_nothing(count: int, calls: list[str]) -> None:
    first = FanOutBench()
    await first.handle(PART)
    again = FanOutBench(beside=first)
    assert (await again.handle(PART, count=count, suffix="~copy1")).disposition == Complete("duplicate")
    assert again.store.calls == calls
    assert first.queue.batches == BATCHES


@pytest.mark.parametrize("count", [1, 2])
async def test_a_changed_part_is_a_mismatch_and_sends_nothing(count: int) -> None:
    first = FanOutBench()
    await first.handle(PART)
    before = first.document()
    disposition = (await FanOutBench(beside=first).handle(changed(PART), count=count)).disposition
    assert disposition == DeadLetter("RequestHashMismatch", "the key was taken by a message with other content")
    assert first.document() == before
    assert first.queue.batches == BATCHES


async def test_a_redelivery_goes_on_where_the_record_ends_after_its_wait() -> None:
    first = FanOutBench(queue=(queue := Failing(down=(3, 4, 5, 6, 7, 8))))
    await first.handle(PART)
    second = FanOutBench(beside=first)
    assert (await second.handle(PART, count=2)).disposition == Complete("applied")
    assert second.clock.slept[0] == pytest.approx(2.0, rel=0.1)
    assert [*queue.message_ids, *second.queue.message_ids] == sent_ids(PART.operations)


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_batch_that_was_not_confirmed_is_sent_again_under_the_same_ids(number: int) -> None:
    for queue in (Failing(down=(number,)), Failing(lost=(number,))):
        bench = FanOutBench(queue=queue)
        assert (await bench.handle(PART)).disposition == Complete("applied")
        assert queue.message_ids == sent_ids(PART.operations)
        assert bench.document()["state"] == "sent"


PASSING: list[Script] = [
    OutcomeUnknown("reset"),
    Applied(OutcomeUnknown("reset")),
    Throttled(0.2),
    Conflict(412),
    Conflict(449),
    Refused(400),
]


@pytest.mark.parametrize("call", [1, 2, 3, 4])
@pytest.mark.parametrize("script", PASSING, ids=str)
async def test_a_passing_fault_of_the_store_is_tried_again_and_nothing_is_sent_twice(call: int, script: Script) -> None:
    bench = FanOutBench({call: script})
    assert (await bench.handle(PART)).disposition == Complete("applied")
    assert bench.queue.message_ids == sent_ids(PART.operations)
    # What this delivery knows to be accepted is not sent again.
    assert sum(bench.queue.batches) == 6


@pytest.mark.parametrize("call", [1, 2, 3, 4])
async def test_a_store_that_stays_away_is_no_fault_of_the_part(call: int) -> None:
    away: dict[int, Script] = dict.fromkeys(range(call + 1, 40), StoreUnavailableError("gone"))
    bench = FanOutBench({call: OutcomeUnknown("gone"), **away})
    assert (await bench.handle(PART)).disposition == Retry("gone")


async def test_an_operators_mistake_alerts_and_is_no_fault_of_the_part() -> None:
    handled = await FanOutBench({1: AccessDenied(403)}).handle(PART)
    assert handled.disposition == Retry("store access denied 403", alert=True)


async def test_a_full_partition_dead_letters() -> None:
    handled = await FanOutBench({1: PartitionFull()}).handle(PART)
    assert handled.disposition == DeadLetter("PartitionFull", "the partition is at the store's size limit")


async def test_a_queue_that_takes_less_than_it_must_dead_letters_before_more_is_sent() -> None:
    bench = FanOutBench(batch_bytes_max=100)
    assert (await bench.handle(PART)).disposition == DeadLetter(
        "PayloadTooLarge", "line 1: larger than the queue takes"
    )
    assert bench.queue.accepted == []


FAULTY = [operation("A1", 2), {"type": "Nonsense"}, operation("A1", 3, amount=1.5), 7]


async def test_with_a_faulty_line_nothing_is_sent_and_its_document_has_every_fault() -> None:
    bench = FanOutBench()
    handled = await bench.take(raw_delivery(FAULTY))
    assert isinstance(handled.disposition, DeadLetter)
    assert handled.disposition.reason == "InvalidLines"
    assert handled.disposition.description.startswith("line 2: Invalid value 'Nonsense'")
    assert bench.queue.batches == []
    document = bench.document()
    assert (document["state"], document["sent"], document["total"]) == ("rejected", 0, 4)
    faults = document["faults"]
    assert isinstance(faults, list)
    assert [fault["line"] for fault in faults if isinstance(fault, dict)] == [2, 3, 4]
    assert handled.figures["faulty_lines"] == 3
    assert bench.store.calls == ["commit part:1"]


async def test_the_first_few_faults_stand_in_the_dead_letter() -> None:
    handled = await FanOutBench().take(raw_delivery([7] * 9))
    assert isinstance(handled.disposition, DeadLetter)
    said = handled.disposition.description
    assert said == "; ".join(f"line {n}: body: must be a JSON object" for n in range(1, 6)) + "; and 4 more lines"


async def test_a_rejected_part_that_comes_again_is_not_written_again() -> None:
    first = FanOutBench()
    await first.take(raw_delivery(FAULTY))
    again = FanOutBench(beside=first)
    assert isinstance((await again.take(raw_delivery(FAULTY))).disposition, DeadLetter)
    assert again.store.calls == ["commit part:1", "read part:1"]
    assert first.memory.writes == 1


async def test_a_part_whose_faults_could_not_be_recorded_is_not_dead_lettered() -> None:
    bench = FanOutBench({1: OutcomeUnknown("gone")} | dict.fromkeys(range(2, 40), StoreUnavailableError("gone")))
    assert (await bench.take(raw_delivery(FAULTY))).disposition == Retry("gone")


async def test_a_corrected_part_takes_the_place_of_a_rejected_one() -> None:
    first = FanOutBench()
    await first.take(raw_delivery(FAULTY))
    again = FanOutBench(beside=first)
    assert (await again.handle(PART)).disposition == Complete("applied")
    document = first.document()
    assert (document["state"], document["sent"], "faults" in document) == ("sent", 6, False)


async def test_a_faulty_part_does_not_touch_the_document_of_one_that_was_sent() -> None:
    first = FanOutBench()
    await first.handle(PART)
    before = first.document()
    handled = await FanOutBench(beside=first).take(raw_delivery(FAULTY))
    assert isinstance(handled.disposition, DeadLetter)
    assert first.document() == before


async def test_a_document_of_newer_code_is_not_touched() -> None:
    bench = FanOutBench()
    await bench.handle(PART)
    bench.memory.put(LEDGER, {**bench.document(), "docVersion": 2})
    assert isinstance((await FanOutBench(beside=bench).handle(PART)).disposition, Retry)
