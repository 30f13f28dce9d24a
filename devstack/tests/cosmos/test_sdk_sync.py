"""The synchronous SDK: the same answers become the same errors."""

from collections.abc import Iterator

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy, CosmosClient, exceptions

from devstack.tests.cosmos.environment import Emulator


@pytest.fixture(scope="module")
def orders(emulator: Emulator) -> Iterator[ContainerProxy]:
    with CosmosClient.from_connection_string(emulator.connection_string) as client:
        yield client.get_database_client("shop").get_container_client("orders")


def values(orders: ContainerProxy, sql: str, partition_key: str) -> list[object]:
    return list(orders.query_items(sql, partition_key=partition_key))


def test_an_item_through_its_life(orders: ContainerProxy) -> None:
    created = orders.create_item({"id": "1", "orderId": "life", "n": 1})
    assert orders.read_item("1", "life") == created
    assert orders.patch_item("1", "life", [{"op": "incr", "path": "/n", "value": 1}])["n"] == 2
    assert values(orders, "SELECT VALUE c.n FROM c", "life") == [2]
    orders.delete_item("1", "life")
    with pytest.raises(exceptions.CosmosResourceNotFoundError):
        orders.read_item("1", "life")


def test_conflicts_and_stale_etags(orders: ContainerProxy) -> None:
    orders.create_item({"id": "1", "orderId": "conflicts"})
    with pytest.raises(exceptions.CosmosResourceExistsError):
        orders.create_item({"id": "1", "orderId": "conflicts"})
    with pytest.raises(exceptions.CosmosAccessConditionFailedError):
        orders.replace_item(
            "1",
            {"id": "1", "orderId": "conflicts"},
            etag='"stale"',
            match_condition=MatchConditions.IfNotModified,
        )


def test_a_failed_batch_leaves_nothing(orders: ContainerProxy) -> None:
    orders.create_item({"id": "taken", "orderId": "batch"})
    batch = [("create", ({"id": item_id, "orderId": "batch"},)) for item_id in ("a", "taken", "b")]
    with pytest.raises(exceptions.CosmosBatchOperationError) as failed:
        orders.execute_item_batch(batch, partition_key="batch")
    assert failed.value.error_index == 1
    assert [response["statusCode"] for response in failed.value.operation_responses] == [424, 409, 424]
    assert values(orders, "SELECT VALUE c.id FROM c", "batch") == ["taken"]


def test_databases_and_containers_can_be_listed(emulator: Emulator) -> None:
    with CosmosClient.from_connection_string(emulator.connection_string) as client:
        assert [entry["id"] for entry in client.list_databases()] == ["shop"]
        database = client.get_database_client("shop")
        assert [entry["id"] for entry in database.list_containers()] == ["orders", "nested"]
        assert client.create_database_if_not_exists("shop").id == "shop"
