"""What the memory store has beyond the store contract: counts, arrangement, and what it refuses."""

import pytest

from shared.idempotency.ports import CommitOutcome, Committed, Create, Document, MarkerExists, Refused, Write
from shared.testing.memory_store import MemoryStore


def create(document_id: str = "op:1", partition: str = "A1") -> Create:
    return Create({"id": document_id, "orderId": partition})


async def test_calls_and_written_documents_are_counted() -> None:
    store = MemoryStore("/orderId")
    await store.read("A1", "op:1")
    assert await store.commit("A1", [create(), create("out:1")]) == Committed()
    assert await store.commit("A1", [create(), create("out:2")]) == MarkerExists()
    assert (store.reads, store.commits, store.calls, store.writes) == (1, 2, 3, 2)


async def test_a_test_arranges_and_looks_without_being_counted() -> None:
    store = MemoryStore("/orderId")
    store.put("A2", {"id": "op:1", "orderId": "A2", "n": 1})
    store.put("A1", {"id": "op:1", "orderId": "A1"})
    store.put("A2", {"id": "op:1", "orderId": "A2", "n": 2})
    assert store.partitions() == ("A1", "A2")
    assert store.documents("A2") == {"op:1": {"id": "op:1", "orderId": "A2", "n": 2}}
    assert store.documents("A3") == {}
    assert (store.calls, store.writes) == (0, 0)


async def test_a_document_that_is_looked_at_is_a_copy() -> None:
    store = MemoryStore("/orderId")
    await store.commit("A1", [create()])
    store.documents("A1")["op:1"]["orderId"] = "changed"
    assert store.documents("A1")["op:1"]["orderId"] == "A1"


async def test_a_look_at_one_document_is_no_read() -> None:
    store = MemoryStore("/orderId")
    await store.commit("A1", [create()])
    assert store.document("A1", "op:1") == store.documents("A1")["op:1"]
    assert store.document("A1", "op:2") is None
    assert store.document("A2", "op:1") is None
    assert store.reads == 0


@pytest.mark.parametrize(
    "body",
    [
        {"id": "op:1"},
        {"id": "op:1", "orderId": "A2"},
        {"id": "op:1", "orderId": None},
        {"orderId": "A1"},
        {"id": "", "orderId": "A1"},
        {"id": 1, "orderId": "A1"},
        {"id": "op:1", "orderId": "A1", "n": float("nan")},
        {"id": "op:1", "orderId": "A1", "n": float("inf")},
        {"id": "op:1", "orderId": "A1", "text": "\ud800"},
    ],
)
async def test_what_cosmos_db_calls_a_bad_request_is_refused(body: Document) -> None:
    store = MemoryStore("/orderId")
    batches: list[list[Write]] = [[Create(body)], [create("op:0"), Create(body)]]
    for writes in batches:
        assert await store.commit("A1", writes) == Refused(400)
    assert store.documents("A1") == {}


async def test_a_commit_of_nothing_is_refused() -> None:
    outcome: CommitOutcome = await MemoryStore("/orderId").commit("A1", [])
    assert outcome == Refused(400)
