"""Redeliveries: the marker first, then the wait, then the try."""

from dataclasses import replace

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.errors import StoreAccessError, StoreUnavailableError
from shared.idempotency.messages import to_document
from shared.testing.deliveries import delivery_of
from shared.testing.manual_clock import SequenceRandom
from tests.unit.example_consumers import LOYALTY, grant
from tests.unit.scripted_store import Bench, Missing

UNAVAILABLE = StoreUnavailableError("no answer")


async def test_what_was_applied_is_a_duplicate_at_once() -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1"))
    before = bench.memory.documents("c1")
    assert (await bench.handle(grant("g1"), count=2)).disposition == Complete("duplicate")
    assert bench.store.calls[2:] == ["read op:g1"]
    assert bench.clock.slept == []
    assert bench.memory.documents("c1") == before


async def test_another_request_under_the_key_is_a_mismatch_at_once() -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1"))
    before = bench.memory.documents("c1")
    assert (await bench.handle(grant("g1", points=6), count=2)).disposition == DeadLetter(
        "RequestHashMismatch", "the key was taken by a message with other content"
    )
    assert bench.store.calls[2:] == ["read op:g1"]
    assert bench.memory.documents("c1") == before


@pytest.mark.parametrize(("count", "seconds"), [(2, 2), (3, 4), (5, 16), (9, 110), (25, 110)])
async def test_what_was_not_applied_waits_before_its_try(count: int, seconds: float) -> None:
    bench = Bench(LOYALTY)
    assert (await bench.handle(grant("g1"), count=count)).disposition == Complete("applied")
    assert bench.store.calls == ["read op:g1", "read c1", "commit op:g1 c1 out:1"]
    assert bench.clock.slept == [seconds * (1 + 0.1 * SequenceRandom().fraction())]


@pytest.mark.parametrize("fault", [UNAVAILABLE, StoreAccessError("store access denied 403")])
async def test_an_outage_does_not_skip_the_wait(fault: Exception) -> None:
    bench = Bench(LOYALTY, {1: fault})
    assert (await bench.handle(grant("g1"), count=4)).disposition == Complete("applied")
    assert len(bench.clock.slept) == 1
    assert bench.clock.slept[0] >= 8


async def test_an_operators_mistake_is_waited_for_and_told() -> None:
    denied = StoreAccessError("store access denied 403")
    bench = Bench(LOYALTY, {1: denied, 2: denied})
    assert (await bench.handle(grant("g1"), count=8)).disposition == Retry("store access denied 403", alert=True)
    assert bench.clock.slept[0] >= 110


async def test_a_marker_that_a_replica_did_not_show_is_met_by_the_create() -> None:
    bench = Bench(LOYALTY, {3: Missing()})
    await bench.handle(grant("g1"))
    assert (await bench.handle(grant("g1"), count=2)).disposition == Complete("duplicate")
    assert bench.store.calls[2:] == ["read op:g1", "read c1", "commit op:g1 c1 out:2", "read op:g1"]
    assert bench.memory.writes == 3


@pytest.mark.parametrize("count", [1, 2])
async def test_a_marker_with_a_newer_hash_waits_for_newer_code(count: int) -> None:
    bench = Bench(LOYALTY)
    bench.memory.put("c1", {"id": "op:g1", "customerId": "c1", "requestHash": "v2:abc", "attemptId": "newer"})
    before = bench.memory.documents("c1")
    handled = await bench.handle(grant("g1"), count=count)
    assert handled.disposition == Retry("request hash version v2 is not known to this code")
    assert bench.memory.documents("c1") == before


@pytest.mark.parametrize("count", [1, 2])
async def test_the_stored_hash_counts_whatever_became_of_the_payload(count: int) -> None:
    bench = Bench(LOYALTY)
    await bench.handle(grant("g1", note="first"))
    stored = bench.memory.documents("c1")["op:g1"]
    # Storage may spell a number differently; that somebody edits the document is the extreme of it.
    bench.memory.put("c1", {**stored, "payload": to_document(grant("g1", note="edited"))})
    assert (await bench.handle(grant("g1", note="first"), count=count)).disposition == Complete("duplicate")
    assert isinstance((await bench.handle(grant("g1", note="edited"), count=count)).disposition, DeadLetter)


@pytest.mark.parametrize("count", [1, 2])
async def test_a_state_of_newer_code_is_never_written_over(count: int) -> None:
    bench = Bench(LOYALTY)
    bench.memory.put("c1", {"id": "c1", "customerId": "c1", "docVersion": 2, "tiers": {"gold": 5}})
    before = bench.memory.documents("c1")
    handled = await bench.handle(grant("g1"), count=count)
    assert handled.disposition == Retry("document version 2 is newer than 1")
    assert bench.memory.documents("c1") == before


async def test_a_bare_key_is_taken_and_judged_by_the_store() -> None:
    bench = Bench(LOYALTY)
    bare = replace(delivery_of(LOYALTY, grant("g1")), message_id="g1")
    assert (await bench.take(bare)).disposition == Complete("applied")
    assert (await bench.take(replace(bare, delivery_count=2))).disposition == Complete("duplicate")
    changed = replace(delivery_of(LOYALTY, grant("g1", points=9)), message_id="g1")
    assert isinstance((await bench.take(changed)).disposition, DeadLetter)
