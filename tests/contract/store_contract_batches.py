"""The contract of the store port, continued: several documents at once, ETags of a batch, deletes."""

from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from shared.idempotency.errors import PermanentError
from shared.idempotency.json_text import Json
from shared.idempotency.ports import Committed, Conflict, Create, Delete, Find, Replace, SearchableStore, Store, Write
from tests.contract.store_contract import document, stored

type SearchCase = Callable[[SearchableStore, str], Awaitable[None]]


async def several_documents_are_read_at_once_and_those_that_are_not_there_left_out(
    store: Store, partition: str
) -> None:
    await store.commit(partition, [Create(document(partition, "op:1", n=1)), Create(document(partition, "op:2", n=2))])
    await store.commit(f"{partition}-other", [Create(document(f"{partition}-other", "op:3"))])
    found = await store.read_many(partition, ["op:2", "op:3", "op:1", "nothing"])
    assert {name: item.body["n"] for name, item in found.items()} == {"op:1": 1, "op:2": 2}
    assert found["op:1"] == await stored(store, partition, "op:1")
    assert await store.read_many(partition, ["nothing"]) == {}


async def a_hundred_documents_are_read_at_once(store: Store, partition: str) -> None:
    names = [f"op:{number}" for number in range(100)]
    assert await store.commit(partition, [Create(document(partition, name)) for name in names]) == Committed()
    assert set(await store.read_many(partition, names)) == set(names)


async def a_single_create_tells_the_etag(store: Store, partition: str) -> None:
    outcome = await store.commit(partition, [Create(document(partition, "op:1"))])
    assert isinstance(outcome, Committed)
    assert [(await stored(store, partition, "op:1")).etag] == list(outcome.etags)


async def a_batch_tells_the_etag_of_each_document(store: Store, partition: str) -> None:
    outcome = await store.commit(partition, [Create(document(partition, "op:1")), Create(document(partition, "op:2"))])
    assert isinstance(outcome, Committed)
    assert [(await stored(store, partition, name)).etag for name in ("op:1", "op:2")] == list(outcome.etags)
    first, second = outcome.etags
    replaced = await store.commit(
        partition, [Create(document(partition, "op:3")), Replace(document(partition, "op:1", n=2), first)]
    )
    assert isinstance(replaced, Committed)
    assert (await stored(store, partition, "op:1")).etag == replaced.etags[1] != first
    assert (await stored(store, partition, "op:2")).etag == second


async def what_is_deleted_is_gone_and_may_be_created_again(store: Store, partition: str) -> None:
    outcome = await store.commit(partition, [Create(document(partition, "op:1")), Create(document(partition, "op:2"))])
    assert isinstance(outcome, Committed)
    writes: list[Write] = [Delete("op:1", outcome.etags[0]), Create(document(partition, "op:3"))]
    deleted = await store.commit(partition, writes)
    assert isinstance(deleted, Committed)
    assert deleted.etags[0] == ""
    assert await store.read(partition, "op:1") is None
    assert await store.commit(partition, [Create(document(partition, "op:1", n=2))]) == Committed()


async def a_delete_at_an_old_etag_or_of_nothing_is_a_conflict_and_writes_nothing(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, "op:1"))])
    old = await stored(store, partition, "op:1")
    await store.commit(
        partition, [Create(document(partition, "op:2")), Replace(document(partition, "op:1", n=2), old.etag)]
    )
    writes: list[Write] = [Delete("op:1", old.etag), Create(document(partition, "op:3"))]
    assert await store.commit(partition, writes) == Conflict(412)
    assert await store.commit(partition, [Delete("nothing", old.etag), *writes[1:]]) == Conflict(404)
    assert await store.read(partition, "op:3") is None
    assert (await stored(store, partition, "op:1")).body["n"] == 2


async def documents_are_found_by_a_field_that_they_have_and_values(store: SearchableStore, partition: str) -> None:
    first: list[Write] = [
        Create(document(partition, "out:1", since="then", kind="a")),
        Create(document(partition, "out:2", since="then", kind="b")),
        Create(document(partition, "out:3", since=None, kind="a")),
        Create(document(partition, "op:1", kind="a")),
    ]
    assert await store.commit(partition, first) == Committed()
    await store.commit(f"{partition}-2", [Create(document(f"{partition}-2", "out:1", since="then", kind="a"))])
    here = await store.find(Find(has="since", equals={"kind": "a"}), partition=partition)
    assert ([found.body["id"] for found in here.documents], here.continuation) == (["out:1"], None)
    assert here.documents[0] == await stored(store, partition, "out:1")
    assert (await store.find(Find(has="since", equals={"kind": "c"}), partition=partition)).documents == ()


async def documents_are_found_over_all_partitions_page_by_page(store: SearchableStore, partition: str) -> None:
    names = [f"{partition}-{number}" for number in range(5)]
    for name in names:
        await store.commit(name, [Create(document(name, "out:1", run=partition))])
    seen: list[Json] = []
    continuation = None
    for _ in range(6):
        page = await store.find(Find(has="run", equals={"run": partition}), continuation=continuation, documents_max=2)
        assert len(page.documents) <= 2
        seen += [found.body["orderId"] for found in page.documents]
        continuation = page.continuation
        if continuation is None:
            break
    assert sorted(map(str, seen)) == names


async def a_continuation_that_no_search_gave_is_refused(store: SearchableStore, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, "out:1", since="then"))])
    with pytest.raises(PermanentError, match="continuation: must be"):
        await store.find(Find(has="since"), continuation="of my own making")


BATCH_CASES: Final[tuple[SearchCase, ...]] = (
    several_documents_are_read_at_once_and_those_that_are_not_there_left_out,
    a_hundred_documents_are_read_at_once,
    a_single_create_tells_the_etag,
    a_batch_tells_the_etag_of_each_document,
    what_is_deleted_is_gone_and_may_be_created_again,
    a_delete_at_an_old_etag_or_of_nothing_is_a_conflict_and_writes_nothing,
    documents_are_found_by_a_field_that_they_have_and_values,
    documents_are_found_over_all_partitions_page_by_page,
    a_continuation_that_no_search_gave_is_refused,
)
