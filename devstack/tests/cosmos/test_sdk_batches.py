"""Transactional batches through the unmodified asynchronous SDK."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from azure.cosmos import exceptions
from azure.cosmos.aio import ContainerProxy, DatabaseProxy

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Operation = tuple[Any, ...]


@pytest.fixture(scope="module")
def orders(database: DatabaseProxy) -> ContainerProxy:
    return database.get_container_client("orders")


@pytest.fixture
def order_id() -> str:
    """A partition of its own for each test."""
    return uuid4().hex


async def ids(orders: ContainerProxy, order_id: str) -> list[str]:
    query = "SELECT VALUE c.id FROM c"
    return [str(item_id) async for item_id in orders.query_items(query, partition_key=order_id)]


def create(item_id: str, order_id: str, **fields: object) -> Operation:
    return ("create", ({"id": item_id, "orderId": order_id, **fields},))


async def test_every_kind_of_operation_in_one_batch(orders: ContainerProxy, order_id: str) -> None:
    for item_id in ("replaced", "patched", "deleted"):
        await orders.create_item({"id": item_id, "orderId": order_id, "n": 1})
    results = await orders.execute_item_batch(
        [
            create("created", order_id, n=1),
            ("upsert", ({"id": "upserted", "orderId": order_id, "n": 1},)),
            ("upsert", ({"id": "upserted", "orderId": order_id, "n": 2},)),
            ("replace", ("replaced", {"id": "replaced", "orderId": order_id, "n": 2})),
            (
                "patch",
                ("patched", [{"op": "incr", "path": "/n", "value": 1}]),
                {"filter_predicate": "from c where c.n = 1"},
            ),
            ("delete", ("deleted",)),
            ("read", ("created",)),
        ],
        partition_key=order_id,
    )
    assert [result["statusCode"] for result in results] == [201, 201, 200, 200, 200, 204, 200]
    bodies = [result.get("resourceBody", {}).get("n") for result in results]
    assert bodies == [1, 1, 2, 2, 2, None, 1]
    assert results[6]["eTag"] == results[0]["eTag"]
    assert sorted(await ids(orders, order_id)) == ["created", "patched", "replaced", "upserted"]
    charge = float(results.get_response_headers()["x-ms-request-charge"])
    assert charge == pytest.approx(sum(result["requestCharge"] for result in results), abs=0.01)


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_a_conflict_anywhere_undoes_all(orders: ContainerProxy, order_id: str, at: int) -> None:
    await orders.create_item({"id": "taken", "orderId": order_id})
    batch = [create("a", order_id), create("b", order_id)]
    batch.insert(at, create("taken", order_id))
    with pytest.raises(exceptions.CosmosBatchOperationError) as failed:
        await orders.execute_item_batch(batch, partition_key=order_id)
    assert (failed.value.error_index, failed.value.status_code) == (at, 409)
    expected = [424, 424, 424]
    expected[at] = 409
    assert [response["statusCode"] for response in failed.value.operation_responses] == expected
    assert await ids(orders, order_id) == ["taken"]


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (("read", ("missing",)), 404),
        (("delete", ("missing",)), 404),
        (("patch", ("missing", [{"op": "set", "path": "/n", "value": 1}])), 404),
        (("replace", ("there", {"id": "there", "orderId": "ORDER"}), {"if_match_etag": '"stale"'}), 412),
        (("delete", ("there",), {"if_match_etag": '"stale"'}), 412),
        (
            (
                "patch",
                ("there", [{"op": "set", "path": "/n", "value": 1}]),
                {"filter_predicate": "from c where c.n = 1"},
            ),
            412,
        ),
        (("patch", ("there", [{"op": "remove", "path": "/n"}])), 400),
        (("create", ({"id": "foreign", "orderId": "elsewhere"},)), 400),
        (("create", ({"orderId": "ORDER"},)), 400),
    ],
)
async def test_each_fault_undoes_all(orders: ContainerProxy, order_id: str, operation: Operation, status: int) -> None:
    await orders.create_item({"id": "there", "orderId": order_id})
    batch = [create("a", order_id), in_partition(operation, order_id), create("b", order_id)]
    with pytest.raises(exceptions.CosmosBatchOperationError) as failed:
        await orders.execute_item_batch(batch, partition_key=order_id)
    assert (failed.value.error_index, failed.value.status_code) == (1, status)
    assert [response["statusCode"] for response in failed.value.operation_responses] == [424, status, 424]
    assert await ids(orders, order_id) == ["there"]


def in_partition(operation: Operation, order_id: str) -> Operation:
    kind, arguments, *options = operation
    return (
        kind,
        tuple(
            argument | {"orderId": order_id}
            if isinstance(argument, dict) and argument["orderId"] == "ORDER"
            else argument
            for argument in arguments
        ),
        *options,
    )


async def test_a_guarded_batch_takes_effect_once(orders: ContainerProxy, order_id: str) -> None:
    created = await orders.create_item({"id": "order", "orderId": order_id, "n": 0})

    def batch(n: int) -> list[Operation]:
        replaced = {"id": "order", "orderId": order_id, "n": n}
        return [create(f"op:{n}", order_id), ("replace", ("order", replaced), {"if_match_etag": created["_etag"]})]

    async def run(n: int) -> int | None:
        try:
            await orders.execute_item_batch(batch(n), partition_key=order_id)
        except exceptions.CosmosBatchOperationError as error:
            return error.status_code
        return 200

    outcomes = await asyncio.gather(*(run(n) for n in range(1, 9)))
    assert sorted(outcomes, key=str) == [200] + [412] * 7
    winner = outcomes.index(200) + 1
    assert sorted(await ids(orders, order_id)) == sorted(["order", f"op:{winner}"])


async def test_a_hundred_operations_are_the_limit(orders: ContainerProxy, order_id: str) -> None:
    batch = [create(str(n), order_id) for n in range(101)]
    with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
        await orders.execute_item_batch(batch, partition_key=order_id)
    assert refused.value.status_code == 400
    assert await ids(orders, order_id) == []
    results = await orders.execute_item_batch(batch[:100], partition_key=order_id)
    assert len(results) == 100


async def test_an_empty_batch_is_400(orders: ContainerProxy, order_id: str) -> None:
    with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
        await orders.execute_item_batch([], partition_key=order_id)
    assert refused.value.status_code == 400


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_two_megabytes_are_the_limit_of_the_whole(orders: ContainerProxy, order_id: str) -> None:
    batch = [create(str(n), order_id, text="x" * 1_100_000) for n in range(2)]
    with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
        await orders.execute_item_batch(batch, partition_key=order_id)
    assert refused.value.status_code == 413
    assert await ids(orders, order_id) == []
