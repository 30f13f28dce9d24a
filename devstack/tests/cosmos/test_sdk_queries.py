"""Queries through the unmodified asynchronous SDK."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio
from azure.cosmos import exceptions
from azure.cosmos.aio import ContainerProxy, DatabaseProxy

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def orders(database: DatabaseProxy) -> ContainerProxy:
    container = database.get_container_client("orders")
    for partition in ("p", "q"):
        batch = [
            ("create", ({"id": f"{partition}{n}", "orderId": partition, "n": n, "tags": [f"t{n % 2}"]},))
            for n in range(10)
        ]
        await container.execute_item_batch(batch, partition_key=partition)
    return container


async def query(
    orders: ContainerProxy,
    sql: str,
    parameters: list[dict[str, Any]] | None = None,
    response_hook: Callable[[Mapping[str, str], object], None] | None = None,
) -> list[Any]:
    results = orders.query_items(sql, parameters=parameters, partition_key="p", response_hook=response_hook)
    return [result async for result in results]


async def test_only_the_partition_is_seen(orders: ContainerProxy) -> None:
    found = await query(orders, "SELECT * FROM c")
    assert [item["id"] for item in found] == [f"p{n}" for n in range(10)]
    assert found[3] == await orders.read_item("p3", "p")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT VALUE c.n FROM c WHERE c.n >= @least AND c.n != 9", [7, 8]),
        ("SELECT VALUE c.n FROM c WHERE c.n IN (1, 3, 99)", [1, 3]),
        ("SELECT VALUE c.id FROM c WHERE STARTSWITH(c.id, 'p1')", ["p1"]),
        ("SELECT VALUE c.n FROM c WHERE ARRAY_CONTAINS(c.tags, 't1') AND NOT c.n > 4", [1, 3]),
        ("SELECT c.id, c.missing FROM c WHERE c.n = 0", [{"id": "p0"}]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2", [8, 7]),
        ("SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n", [0, 1]),
        ("SELECT VALUE COUNT(1) FROM c", [10]),
        ("SELECT VALUE c.n FROM c WHERE NOT IS_DEFINED(c.n)", []),
    ],
)
async def test_queries_worked_out_by_hand(orders: ContainerProxy, sql: str, expected: list[Any]) -> None:
    parameters: list[dict[str, Any]] = [{"name": "@least", "value": 7}]
    assert await query(orders, sql, parameters=parameters) == expected


@pytest.mark.parametrize("order", ["", " ORDER BY c.n DESC"])
async def test_pages_and_continuations(orders: ContainerProxy, order: str) -> None:
    sql = f"SELECT VALUE c.n FROM c{order}"  # noqa: S608 - no database behind it
    pages: list[list[Any]] = []
    token: str | None = None
    for _ in range(9):
        pager = orders.query_items(sql, partition_key="p", max_item_count=4).by_page(token)
        pages.append([value async for value in await anext(pager)])
        # The SDK documents the attribute, and types the iterator without it.
        token = pager.continuation_token  # type: ignore[attr-defined]
        if token is None:
            break
    numbers = list(range(10)) if order == "" else list(range(9, -1, -1))
    assert pages == [numbers[:4], numbers[4:8], numbers[8:]]


async def test_the_charge_is_told(orders: ContainerProxy) -> None:
    charges: list[float] = []

    def hook(headers: Mapping[str, str], _: object) -> None:
        charges.append(float(headers["x-ms-request-charge"]))

    await query(orders, "SELECT VALUE c.n FROM c", response_hook=hook)
    assert charges
    assert all(charge >= 2.3 for charge in charges)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM c ORDER BY c.tags", "excluded"),
        ("SELECT * FROM c GROUP BY c.n", "GROUP is not supported"),
        ("SELECT VALUE SUM(c.n) FROM c", "not supported"),
        ("SELECT * FROM c WHERE c.n = @none", "@none"),
        ("SELEKT", "Syntax error"),
    ],
)
async def test_what_is_outside_the_subset_is_400(orders: ContainerProxy, sql: str, words: str) -> None:
    with pytest.raises(exceptions.CosmosHttpResponseError, match=words) as refused:
        await query(orders, sql)
    assert refused.value.status_code == 400


async def test_a_filter_over_partitions_comes_in_pages_with_continuation(orders: ContainerProxy) -> None:
    sql, parameters = "SELECT VALUE c.id FROM c WHERE c.n >= @least", [{"name": "@least", "value": 7}]
    seen: list[Any] = []
    continuation = None
    for _ in range(4):
        pages = orders.query_items(sql, parameters=parameters, max_item_count=2).by_page(continuation)
        seen.append([item async for item in await anext(pages)])
        continuation = pages.continuation_token  # type: ignore[attr-defined]
        if continuation is None:
            break
    assert seen == [["p7", "p8"], ["p9", "q7"], ["q8", "q9"]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM c ORDER BY c.n",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT TOP 1 * FROM c",
        "SELECT * FROM c OFFSET 1 LIMIT 2",
    ],
)
async def test_more_than_a_filter_over_partitions_is_refused_clearly(orders: ContainerProxy, sql: str) -> None:
    with pytest.raises(exceptions.CosmosHttpResponseError, match="pass a partition key") as refused:
        [item async for item in orders.query_items(sql)]
    assert refused.value.status_code == 400


async def test_all_items_can_be_listed(orders: ContainerProxy) -> None:
    pages = orders.read_all_items(max_item_count=7)
    assert [item["id"] async for item in pages] == [f"{p}{n}" for p in "pq" for n in range(10)]
