"""The wire, spoken by hand: access, account, databases, containers, ranges."""

import json
import uuid
from urllib.parse import unquote

import pytest

from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire.auth import authorization_header
from devstack.tests.cosmos.caller import DOCS, KEY, Caller, P


async def test_the_account_names_the_endpoint_by_which_it_was_reached(call: Caller) -> None:
    reply = await call("GET", "/", Host="my-name:8081")
    assert reply.status == 200
    for locations in ("writableLocations", "readableLocations"):
        assert reply.json[locations] == [{"name": "Local", "databaseAccountEndpoint": "http://my-name:8081/"}]
    engine = reply.json["queryEngineConfiguration"]
    assert isinstance(engine, str)
    assert json.loads(engine)
    assert reply.json["id"] != "localhost"
    assert reply.json["userConsistencyPolicy"] == {"defaultConsistencyLevel": "Session"}


async def test_a_request_without_a_right_signature_is_401(call: Caller, store: Store) -> None:
    wrong = await call("GET", "/dbs/shop", link="dbs/other")
    missing = await call("GET", "/dbs/shop", Authorization="")
    for reply in (wrong, missing):
        assert reply.status == 401
        assert reply.json["code"] == "Unauthorized"
        assert reply.headers["x-ms-substatus"] == "0"
        assert reply.headers["content-length"] == str(len(reply.body))


async def test_no_key_and_no_signature_stands_in_an_error(call: Caller) -> None:
    reply = await call("GET", "/dbs/shop", link="dbs/other")
    date = reply.headers["date"]
    signature = unquote(authorization_header(KEY, "GET", "dbs", "dbs/shop", date)).partition("sig=")[2]
    assert signature not in reply.body.decode()


async def test_databases_and_containers_are_found_by_name_and_by_rid(call: Caller, orders: Container) -> None:
    database, container = await call("GET", "/dbs/shop"), await call("GET", "/dbs/shop/colls/orders")
    assert (database.json["id"], database.json["_rid"]) == ("shop", orders.database.rid)
    assert (container.json["id"], container.json["_rid"]) == ("orders", orders.rid)
    assert container.json["_self"] == f"dbs/{orders.database.rid}/colls/{orders.rid}/"
    assert container.json["partitionKey"] == {"paths": ["/orderId"], "kind": "Hash", "version": 2}
    assert container.json["defaultTtl"] == -1
    by_rid = await call("GET", f"/dbs/{orders.database.rid}/colls/{orders.rid}", link=orders.rid.lower())
    assert by_rid.json == container.json


async def test_the_feeds_of_databases_and_containers(call: Caller) -> None:
    databases, containers = await call("GET", "/dbs"), await call("GET", "/dbs/shop/colls")
    assert (databases.json["_count"], databases.headers["x-ms-item-count"]) == (1, "1")
    listed = containers.json["DocumentCollections"]
    assert isinstance(listed, list)
    assert [entry["id"] for entry in listed] == ["orders", "nested"]


@pytest.mark.parametrize(
    "path",
    ["/dbs/none", "/dbs/none/colls", "/dbs/none/colls/orders", "/dbs/shop/colls/none", "/dbs/shop/colls/none/docs/1/"],
)
async def test_a_missing_database_or_container_is_404_1003(call: Caller, path: str) -> None:
    reply = await call("GET", path)
    assert (reply.status, reply.headers["x-ms-substatus"]) == (404, "1003")


async def test_metadata_is_read_only(call: Caller) -> None:
    for verb, path in (("POST", "/dbs"), ("DELETE", "/dbs/shop"), ("PUT", "/dbs/shop/colls/orders")):
        reply = await call(verb, path, {"id": "x"})
        assert reply.status == 405
    assert (await call("POST", "/")).status == 405
    assert (await call("POST", "/dbs/shop/colls/orders/pkranges")).status == 405
    assert (await call("PUT", DOCS, {"id": "1"}, **P)).status == 405
    assert (await call("POST", f"{DOCS}1/", {"id": "1"}, **P)).status == 405


async def test_partition_key_ranges_end_with_304(call: Caller) -> None:
    first = await call("GET", "/dbs/shop/colls/orders/pkranges")
    (key_range,) = json.loads(first.body)["PartitionKeyRanges"]
    assert (key_range["id"], key_range["minInclusive"], key_range["maxExclusive"]) == ("0", "", "FF")
    second = await call("GET", "/dbs/shop/colls/orders/pkranges", **{"If-None-Match": first.headers["etag"]})
    assert (second.status, second.body, second.headers["etag"]) == (304, b"", first.headers["etag"])
    assert second.headers["x-ms-item-count"] == "0"


async def test_a_client_that_knows_an_older_container_gets_400_1024(call: Caller, orders: Container) -> None:
    header = "x-ms-cosmos-intended-collection-rid"
    stale = await call("POST", DOCS, {"id": "1", "orderId": "p"}, **P, **{header: "AAAAAIAAAAA="})
    assert (stale.status, stale.headers["x-ms-substatus"]) == (400, "1024")
    right = await call("POST", DOCS, {"id": "1", "orderId": "p"}, **P, **{header: orders.rid})
    assert right.status == 201


async def test_activity_ids_are_guids(call: Caller) -> None:
    own = str(uuid.uuid4())
    assert (await call("GET", "/", **{"x-ms-activity-id": own})).headers["x-ms-activity-id"] == own
    for sent in ("", "not a guid"):
        received = (await call("GET", "/", **{"x-ms-activity-id": sent})).headers["x-ms-activity-id"]
        assert str(uuid.UUID(received)) == received
