"""The contract of the store port: named cases with expectations from the port and from Cosmos DB, by hand.

Each case gets a store and a partition that no other case uses. The partition key is `/orderId`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from shared.idempotency.json_text import Json
from shared.idempotency.ports import (
    Committed,
    Conflict,
    Create,
    Document,
    MarkerExists,
    Replace,
    Store,
    StoredDocument,
    TooLarge,
    Write,
)

type Case = Callable[[Store, str], Awaitable[None]]

PARTITION_KEY: Final = "/orderId"
CASES: Final[list[Case]] = []


def case(check: Case) -> Case:
    CASES.append(check)
    return check


def document(partition: str, document_id: str, **fields: Json) -> Document:
    return {"id": document_id, "orderId": partition, **fields}


async def stored(store: Store, partition: str, document_id: str) -> StoredDocument:
    found = await store.read(partition, document_id)
    assert found is not None, f"{document_id} is not there"
    return found


@case
async def what_was_never_written_reads_as_none(store: Store, partition: str) -> None:
    assert await store.read(partition, "op:1") is None
    await store.commit(partition, [Create(document(partition, "op:1"))])
    assert await store.read(partition, "op:2") is None


@case
async def what_is_created_is_read_with_an_etag(store: Store, partition: str) -> None:
    body = document(partition, "op:1", n=1)
    assert await store.commit(partition, [Create(body)]) == Committed()
    found = await stored(store, partition, "op:1")
    assert found.body == {"id": "op:1", "orderId": partition, "n": 1}
    assert found.etag


@case
async def every_json_value_comes_back_as_it_was(store: Store, partition: str) -> None:
    body = document(
        partition,
        "op:1",
        text='é€😀 "quoted" \\ \n\t\u0001 \u2028',
        empty="",
        nothing=None,
        yes=True,
        no=False,
        zero=0,
        largest=2**53 - 1,
        smallest=-(2**53) + 1,
        fraction=0.1,
        list=[1, [2, []], {}],
        object={"": "empty name", "é": {"deep": [None, "x"]}},
    )
    assert await store.commit(partition, [Create(body)]) == Committed()
    assert (await stored(store, partition, "op:1")).body == body


@case
async def what_is_written_shares_nothing_with_what_is_read(store: Store, partition: str) -> None:
    lines: list[Json] = [1]
    body = document(partition, "op:1", lines=lines)
    await store.commit(partition, [Create(body)])
    lines.append(2)
    first = (await stored(store, partition, "op:1")).body
    first["lines"] = "changed by the reader"
    assert (await stored(store, partition, "op:1")).body == document(partition, "op:1", lines=[1])


@case
async def ids_are_compared_by_case_and_may_hold_colons(store: Store, partition: str) -> None:
    for document_id in ("op:a", "op:A", "out:1", "A.b_c-9", "op:..", partition):
        created = await store.commit(partition, [Create(document(partition, document_id, name=document_id))])
        assert created == Committed(), document_id
    for document_id in ("op:a", "op:A", "out:1", "A.b_c-9", "op:..", partition):
        assert (await stored(store, partition, document_id)).body["name"] == document_id


@case
async def an_id_is_taken_within_its_partition_only(store: Store, partition: str) -> None:
    other = f"{partition}-other"
    assert await store.commit(partition, [Create(document(partition, "op:1", n=1))]) == Committed()
    assert await store.commit(other, [Create(document(other, "op:1", n=2))]) == Committed()
    assert (await stored(store, partition, "op:1")).body["n"] == 1
    assert (await stored(store, other, "op:1")).body["n"] == 2


@case
async def a_create_of_a_taken_id_says_that_the_marker_exists(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, "op:1", n=1))])
    before = await stored(store, partition, "op:1")
    assert await store.commit(partition, [Create(document(partition, "op:1", n=2))]) == MarkerExists()
    assert await stored(store, partition, "op:1") == before


@case
async def a_batch_is_written_whole(store: Store, partition: str) -> None:
    writes = [Create(document(partition, name, n=n)) for n, name in enumerate(["op:1", partition, "out:1"])]
    assert await store.commit(partition, writes) == Committed()
    for n, name in enumerate(["op:1", partition, "out:1"]):
        assert (await stored(store, partition, name)).body == document(partition, name, n=n)


@case
async def a_batch_whose_marker_exists_writes_nothing(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, "op:1", n=1))])
    before = await stored(store, partition, "op:1")
    writes = [Create(document(partition, "op:1", n=2)), Create(document(partition, "out:1"))]
    assert await store.commit(partition, writes) == MarkerExists()
    assert await stored(store, partition, "op:1") == before
    assert await store.read(partition, "out:1") is None


@case
async def a_batch_whose_later_create_is_taken_is_a_conflict_and_writes_nothing(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, "out:1", n=1))])
    writes = [Create(document(partition, name, n=2)) for name in ("op:1", "out:1", "out:2")]
    assert await store.commit(partition, writes) == Conflict(409)
    assert await store.read(partition, "op:1") is None
    assert await store.read(partition, "out:2") is None
    assert (await stored(store, partition, "out:1")).body["n"] == 1


@case
async def a_batch_that_creates_an_id_twice_is_a_conflict_and_writes_nothing(store: Store, partition: str) -> None:
    writes = [Create(document(partition, name)) for name in ("op:1", "out:1", "out:1")]
    assert await store.commit(partition, writes) == Conflict(409)
    assert await store.read(partition, "op:1") is None
    assert await store.read(partition, "out:1") is None


@case
async def a_replace_at_its_etag_is_written_and_moves_the_etag(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=1, old=True))])
    first = await stored(store, partition, partition)
    replace = Replace(document(partition, partition, n=2), first.etag)
    assert await store.commit(partition, [Create(document(partition, "op:1")), replace]) == Committed()
    second = await stored(store, partition, partition)
    assert second.body == document(partition, partition, n=2)
    assert second.etag != first.etag


@case
async def a_replace_with_the_same_content_moves_the_etag_too(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=1))])
    first = await stored(store, partition, partition)
    writes: list[Write] = [Create(document(partition, "op:1")), Replace(first.body, first.etag)]
    assert await store.commit(partition, writes) == Committed()
    assert (await stored(store, partition, partition)).etag != first.etag


@case
async def a_replace_at_an_old_etag_is_a_conflict_and_writes_nothing(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=1))])
    old = await stored(store, partition, partition)
    writes: list[Write] = [Create(document(partition, "op:1")), Replace(document(partition, partition, n=2), old.etag)]
    await store.commit(partition, writes)
    late: list[Write] = [Create(document(partition, "op:2")), Replace(document(partition, partition, n=3), old.etag)]
    assert await store.commit(partition, late) == Conflict(412)
    assert await store.read(partition, "op:2") is None
    assert (await stored(store, partition, partition)).body["n"] == 2


@case
async def a_replace_of_nothing_is_a_conflict_and_writes_nothing(store: Store, partition: str) -> None:
    writes: list[Write] = [Create(document(partition, "op:1")), Replace(document(partition, partition), '"1"')]
    assert await store.commit(partition, writes) == Conflict(404)
    assert await store.read(partition, "op:1") is None
    assert await store.read(partition, partition) is None


@case
async def a_replace_alone_is_guarded_too(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=1))])
    first = await stored(store, partition, partition)
    assert await store.commit(partition, [Replace(document(partition, partition, n=2), first.etag)]) == Committed()
    late = [Replace(document(partition, partition, n=3), first.etag)]
    assert await store.commit(partition, late) == Conflict(412)
    assert (await stored(store, partition, partition)).body["n"] == 2


@case
async def the_first_refused_write_decides(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=1))])
    stale = Replace(document(partition, partition, n=2), '"no such version"')
    taken = Create(document(partition, partition, n=3))
    marker = Create(document(partition, "op:1"))
    assert await store.commit(partition, [marker, stale, taken]) == Conflict(412)
    assert await store.commit(partition, [marker, taken, stale]) == Conflict(409)
    assert await store.commit(partition, [taken, stale]) == MarkerExists()


@case
async def a_batch_takes_100_documents(store: Store, partition: str) -> None:
    writes = [Create(document(partition, f"out:{number}")) for number in range(100)]
    assert await store.commit(partition, writes) == Committed()
    assert (await stored(store, partition, "out:99")).body == document(partition, "out:99")


@case
async def a_batch_of_101_documents_is_too_large(store: Store, partition: str) -> None:
    writes = [Create(document(partition, f"out:{number}")) for number in range(101)]
    assert isinstance(await store.commit(partition, writes), TooLarge)
    assert await store.read(partition, "out:0") is None


@case
async def a_document_below_2_megabytes_is_taken(store: Store, partition: str) -> None:
    body = document(partition, "op:1", text="x" * 1_900_000)
    assert await store.commit(partition, [Create(body)]) == Committed()
    assert (await stored(store, partition, "op:1")).body == body


@case
async def a_document_over_2_megabytes_is_too_large(store: Store, partition: str) -> None:
    exceeds = document(partition, "op:1", text="x" * 2_100_000)
    assert isinstance(await store.commit(partition, [Create(exceeds)]), TooLarge)
    assert await store.read(partition, "op:1") is None


@case
async def a_batch_is_weighed_as_a_whole(store: Store, partition: str) -> None:
    writes = [Create(document(partition, name, text="x" * 1_100_000)) for name in ("op:1", "out:1")]
    assert isinstance(await store.commit(partition, writes), TooLarge)
    assert await store.read(partition, "op:1") is None


@case
async def text_is_weighed_as_utf8(store: Store, partition: str) -> None:
    # The euro sign is 3 bytes in UTF-8: 1.8 and 2.1 million bytes. Escaped, both would be over 2 MB.
    fits = document(partition, "op:1", text="€" * 600_000)
    assert await store.commit(partition, [Create(fits), Create(document(partition, "out:1"))]) == Committed()
    assert (await stored(store, partition, "op:1")).body == fits
    exceeds = document(partition, "op:2", text="€" * 700_000)
    writes = [Create(exceeds), Create(document(partition, "out:2"))]
    assert isinstance(await store.commit(partition, writes), TooLarge)


@case
async def of_creates_at_the_same_time_one_is_written(store: Store, partition: str) -> None:
    outcomes = await asyncio.gather(
        *(
            store.commit(
                partition,
                [Create(document(partition, "op:1", n=n)), Create(document(partition, f"out:{n}"))],
            )
            for n in range(8)
        )
    )
    assert outcomes.count(Committed()) == 1
    assert outcomes.count(MarkerExists()) == 7
    winner = outcomes.index(Committed())
    assert (await stored(store, partition, "op:1")).body["n"] == winner
    written = [n for n in range(8) if await store.read(partition, f"out:{n}") is not None]
    assert written == [winner]


@case
async def of_replaces_at_the_same_etag_one_is_written(store: Store, partition: str) -> None:
    await store.commit(partition, [Create(document(partition, partition, n=-1))])
    etag = (await stored(store, partition, partition)).etag
    outcomes = await asyncio.gather(
        *(
            store.commit(
                partition,
                [Create(document(partition, f"op:{n}")), Replace(document(partition, partition, n=n), etag)],
            )
            for n in range(8)
        )
    )
    assert outcomes.count(Committed()) == 1
    assert outcomes.count(Conflict(412)) == 7
    winner = outcomes.index(Committed())
    assert (await stored(store, partition, partition)).body["n"] == winner
    assert [n for n in range(8) if await store.read(partition, f"op:{n}") is not None] == [winner]
