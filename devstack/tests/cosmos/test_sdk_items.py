"""Items through the unmodified asynchronous SDK, with endpoint discovery on."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from azure.core import MatchConditions
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos import exceptions
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue

from devstack.tests.cosmos.environment import Emulator, StartEmulator

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Item = dict[str, Any]


@pytest.fixture(scope="module")
def orders(database: DatabaseProxy) -> ContainerProxy:
    return database.get_container_client("orders")


@pytest.fixture
def order_id() -> str:
    """A partition of its own for each test."""
    return uuid4().hex


async def test_an_item_through_its_life(orders: ContainerProxy, order_id: str) -> None:
    created = await orders.create_item({"id": "1", "orderId": order_id, "n": 1})
    assert await orders.read_item("1", order_id) == created
    replaced = await orders.replace_item("1", {"id": "1", "orderId": order_id, "n": 2})
    assert replaced["n"] == 2
    assert replaced["_rid"] == created["_rid"]
    assert replaced["_etag"] != created["_etag"]
    upserted = await orders.upsert_item({"id": "1", "orderId": order_id, "n": 3})
    assert upserted["n"] == 3
    patched = await orders.patch_item("1", order_id, [{"op": "incr", "path": "/n", "value": 1}])
    assert patched["n"] == 4
    assert await orders.read_item("1", order_id) == patched
    await orders.delete_item("1", order_id)
    with pytest.raises(exceptions.CosmosResourceNotFoundError) as missing:
        await orders.read_item("1", order_id)
    assert (missing.value.status_code, missing.value.sub_status) == (404, 0)


async def test_an_upsert_creates_too(orders: ContainerProxy, order_id: str) -> None:
    created = await orders.upsert_item({"id": "1", "orderId": order_id})
    assert await orders.read_item("1", order_id) == created


async def test_a_taken_id_is_409_and_the_winner_is_read_next(orders: ContainerProxy, order_id: str) -> None:
    created = await orders.create_item({"id": "1", "orderId": order_id, "n": 1})
    with pytest.raises(exceptions.CosmosResourceExistsError) as conflict:
        await orders.create_item({"id": "1", "orderId": order_id, "n": 2})
    assert conflict.value.status_code == 409
    assert conflict.value.headers["x-ms-request-charge"] == "1.24"
    assert await orders.read_item("1", order_id) == created


async def test_the_id_is_free_in_another_partition(orders: ContainerProxy, order_id: str) -> None:
    await orders.create_item({"id": "1", "orderId": order_id})
    await orders.create_item({"id": "1", "orderId": order_id + "x"})


async def test_of_fifty_concurrent_creates_one_wins(orders: ContainerProxy, order_id: str) -> None:
    async def create(n: int) -> int:
        try:
            await orders.create_item({"id": "1", "orderId": order_id, "n": n})
        except exceptions.CosmosResourceExistsError:
            return 409
        return 201

    outcomes = await asyncio.gather(*(create(n) for n in range(50)))
    assert sorted(outcomes) == [201] + [409] * 49
    assert (await orders.read_item("1", order_id))["n"] == outcomes.index(201)


async def test_another_process_reads_the_winner_after_its_409(
    emulator: Emulator, orders: ContainerProxy, order_id: str
) -> None:
    created = await orders.create_item({"id": "1", "orderId": order_id})
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient.from_connection_string(emulator.connection_string, transport=transport) as other:
        container = other.get_database_client("shop").get_container_client("orders")
        with pytest.raises(exceptions.CosmosResourceExistsError):
            await container.create_item({"id": "1", "orderId": order_id})
        assert await container.read_item("1", order_id) == created


async def test_a_stale_etag_is_412(orders: ContainerProxy, order_id: str) -> None:
    first = await orders.create_item({"id": "1", "orderId": order_id})
    second = await orders.replace_item("1", {"id": "1", "orderId": order_id}, **guard(first["_etag"]))
    body: Item = {"id": "1", "orderId": order_id}
    operations: list[Item] = [{"op": "set", "path": "/n", "value": 1}]
    for attempt in (
        orders.replace_item("1", body, **guard(first["_etag"])),
        orders.upsert_item(body, **guard(first["_etag"])),
        orders.patch_item("1", order_id, operations, **guard(first["_etag"])),
        orders.delete_item("1", order_id, **guard(first["_etag"])),
    ):
        with pytest.raises(exceptions.CosmosAccessConditionFailedError) as stale:
            await attempt
        assert stale.value.status_code == 412
    await orders.delete_item("1", order_id, **guard(second["_etag"]))


def guard(etag: str) -> dict[str, Any]:
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


async def test_an_unchanged_item_is_not_sent_again(orders: ContainerProxy, order_id: str) -> None:
    created = await orders.create_item({"id": "1", "orderId": order_id})
    assert (
        await orders.read_item("1", order_id, etag=created["_etag"], match_condition=MatchConditions.IfModified) == {}
    )
    assert await orders.read_item("1", order_id, etag='"other"', match_condition=MatchConditions.IfModified) == created


async def test_what_is_missing_is_404_for_every_write(orders: ContainerProxy, order_id: str) -> None:
    for attempt in (
        orders.replace_item("1", {"id": "1", "orderId": order_id}),
        orders.patch_item("1", order_id, [{"op": "set", "path": "/n", "value": 1}]),
        orders.delete_item("1", order_id),
    ):
        with pytest.raises(exceptions.CosmosResourceNotFoundError):
            await attempt


async def test_the_wrong_partition_is_404(orders: ContainerProxy, order_id: str) -> None:
    await orders.create_item({"id": "1", "orderId": order_id})
    with pytest.raises(exceptions.CosmosResourceNotFoundError):
        await orders.read_item("1", order_id + "x")


async def test_patch_conditions_and_faults(orders: ContainerProxy, order_id: str) -> None:
    await orders.create_item({"id": "1", "orderId": order_id, "n": 1})
    increment: list[Item] = [{"op": "incr", "path": "/n", "value": 1}]
    with pytest.raises(exceptions.CosmosAccessConditionFailedError):
        await orders.patch_item("1", order_id, increment, filter_predicate="from c where c.n = 2")
    patched = await orders.patch_item("1", order_id, increment, filter_predicate="from c where c.n = 1")
    assert patched["n"] == 2
    for operations in (increment * 11, [{"op": "remove", "path": "/missing"}]):
        with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
            await orders.patch_item("1", order_id, operations)
        assert refused.value.status_code == 400
    assert (await orders.read_item("1", order_id))["n"] == 2


async def test_no_response_leaves_the_body_out(orders: ContainerProxy, order_id: str) -> None:
    item: Item = {"id": "1", "orderId": order_id, "n": 1}
    for result in (
        await orders.create_item(item, no_response=True),
        await orders.upsert_item(item, no_response=True),
        await orders.replace_item("1", item, no_response=True),
        await orders.patch_item("1", order_id, [{"op": "set", "path": "/n", "value": 2}], no_response=True),
    ):
        assert result == {}
        assert result.get_response_headers()["etag"]
    assert (await orders.read_item("1", order_id))["n"] == 2


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_two_megabytes_are_the_limit(orders: ContainerProxy, order_id: str) -> None:
    await orders.create_item({"id": "1", "orderId": order_id, "text": "x" * 2_000_000})
    with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
        await orders.create_item({"id": "2", "orderId": order_id, "text": "x" * (2 * 1024 * 1024)})
    assert refused.value.status_code == 413
    with pytest.raises(exceptions.CosmosResourceNotFoundError):
        await orders.read_item("2", order_id)


@pytest.mark.parametrize("item_id", ["a b", "%2F", "a+b", "é", "日本", "x==", "op:1", "a&b=c", "~", "x" * 1023])
async def test_ids_that_paths_and_signatures_must_not_bend(orders: ContainerProxy, order_id: str, item_id: str) -> None:
    created = await orders.create_item({"id": item_id, "orderId": order_id})
    assert created["id"] == item_id
    assert await orders.read_item(item_id, order_id) == created
    await orders.delete_item(item_id, order_id)


async def test_ids_differ_by_case(orders: ContainerProxy, order_id: str) -> None:
    await orders.create_item({"id": "ORD-1", "orderId": order_id})
    await orders.create_item({"id": "ord-1", "orderId": order_id})


@pytest.mark.parametrize(
    ("value", "stored"),
    [(10.0, 10), (0.1 + 0.2, 0.30000000000000004), (9007199254740993, 9007199254740992), (1e22, 1e22), (-1, -1)],
)
async def test_numbers_come_back_as_doubles(orders: ContainerProxy, order_id: str, value: float, stored: float) -> None:
    await orders.create_item({"id": "1", "orderId": order_id, "n": value})
    assert (await orders.read_item("1", order_id))["n"] == stored


async def test_not_a_number_is_400(orders: ContainerProxy, order_id: str) -> None:
    with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
        await orders.create_item({"id": "1", "orderId": order_id, "n": float("nan")})
    assert refused.value.status_code == 400


async def test_keys_of_every_type_are_partitions_of_their_own(orders: ContainerProxy) -> None:
    item_id = uuid4().hex
    keys: list[tuple[Item, Any]] = [
        ({"orderId": "7"}, "7"),
        ({"orderId": 7}, 7),
        ({"orderId": True}, True),
        ({"orderId": ""}, ""),
        ({"orderId": None}, NullPartitionKeyValue),
        ({}, NonePartitionKeyValue),
    ]
    for at, (fields, _) in enumerate(keys):
        await orders.create_item({"id": item_id, "at": at, **fields})
    for at, (_, key) in enumerate(keys):
        assert (await orders.read_item(item_id, key))["at"] == at
    assert (await orders.read_item(item_id, 7.0))["at"] == 1


async def test_a_key_below_the_top_level(database: DatabaseProxy) -> None:
    nested = database.get_container_client("nested")
    created = await nested.create_item({"id": "1", "owner": {"id": "o"}})
    assert await nested.read_item("1", "o") == created


async def test_a_missing_container_and_database_are_404(emulator: Emulator, database: DatabaseProxy) -> None:
    with pytest.raises(exceptions.CosmosResourceNotFoundError) as missing:
        await database.get_container_client("none").read_item("1", "p")
    assert missing.value.sub_status == 1003


async def test_a_wrong_key_is_401(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    # The SDK retries its first read of the account three times, 500 ms apart.
    monkeypatch.setenv("AZURE_COSMOS_HEALTH_CHECK_RETRY_AFTER_MS", "1")
    transport = AioHttpTransport(use_env_settings=False)
    url = f"http://127.0.0.1:{emulator.port}/"
    client = CosmosClient(url, credential="d3Jvbmc=", transport=transport)
    try:
        with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
            await client.get_database_client("shop").read()
        assert refused.value.status_code == 401
        assert "wrong key" in refused.value.message
    finally:
        await client.close()
        await transport.close()


async def test_a_client_outlives_an_emulator_that_starts_empty(start_emulator: StartEmulator) -> None:
    """A new container of the same name has another rid: 400/1024, upon which the SDK reads it again."""
    key = "c2VjcmV0"
    first = start_emulator("--key", key)
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient.from_connection_string(first.connection_string, transport=transport) as client:
        container = client.get_database_client("shop").get_container_client("orders")
        before = await container.create_item({"id": "1", "orderId": "p"})
        first.kill()
        start_emulator("--key", key, "--port", str(first.port))
        after = await container.create_item({"id": "1", "orderId": "p"})
        assert after["_rid"][:8] != before["_rid"][:8]
        assert await container.read_item("1", "p") == after


async def test_compact_bodies_are_understood(emulator: Emulator, order_id: str) -> None:
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient.from_connection_string(
        emulator.connection_string, transport=transport, enable_compact_utf8_item_writes=True
    ) as client:
        container = client.get_database_client("shop").get_container_client("orders")
        created = await container.create_item({"id": "é", "orderId": order_id, "name": "日本 😀"})
        item = {"id": "ü", "orderId": order_id, "name": "日本"}
        await container.execute_item_batch([("create", (item,))], partition_key=order_id)
        assert await container.read_item("é", order_id) == created
        assert (await container.read_item("ü", order_id))["name"] == "日本"
