"""The wire, spoken by hand: items, batches and feeds, as the SDKs never send them."""

import asyncio
import io
import json

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from aiohttp.typedefs import Handler
from yarl import URL

from devstack.cosmos.items.execute import execute
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire import item_requests
from devstack.cosmos.wire.gateway import Gateway
from devstack.tests.cosmos.caller import DOCS, KEY, Caller, P


async def test_session_token_and_path_come_with_every_answer_about_items(call: Caller) -> None:
    replies = [
        await call("GET", f"{DOCS}1/", **P),
        await call("POST", DOCS, {"id": "1", "orderId": "p"}, **P),
        await call("POST", DOCS, {"id": "1", "orderId": "p"}, **P),
        await call("PUT", f"{DOCS}1/", {"id": "1", "orderId": "p"}, **P, **{"If-Match": '"stale"'}),
        await call("DELETE", f"{DOCS}1/", **P),
    ]
    assert [reply.status for reply in replies] == [404, 201, 409, 412, 204]
    assert [reply.headers["x-ms-session-token"] for reply in replies] == [
        "0:-1#0", "0:-1#1", "0:-1#1", "0:-1#1", "0:-1#2",
    ]  # fmt: skip
    assert {reply.headers["x-ms-alt-content-path"] for reply in replies} == {"dbs/shop/colls/orders"}
    assert [reply.headers.get("x-ms-substatus") for reply in replies] == ["0", None, "0", "0", None]
    codes = [json.loads(reply.body)["code"] for reply in replies if reply.status >= 400]
    assert codes == ["NotFound", "Conflict", "PreconditionFailed"]
    assert [reply.headers["x-ms-request-charge"] for reply in replies] == ["1.00", "4.95", "1.24", "1.24", "4.95"]


async def test_a_defect_is_500_and_rolled_back(
    call: Caller, store: Store, orders: Container, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def executed_then_broken(*arguments: object) -> None:
        execute(*arguments)  # type: ignore[arg-type]
        raise RuntimeError("a defect")

    monkeypatch.setattr(item_requests, "execute", executed_then_broken)
    reply = await call("POST", DOCS, {"id": "1", "orderId": "p"}, **P)
    assert (reply.status, reply.json["code"]) == (500, "InternalServerError")
    assert reply.headers["x-ms-activity-id"] in caplog.text
    monkeypatch.undo()
    assert (await call("GET", f"{DOCS}1/", **P)).status == 404


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"{", P),
        (b"[]", P),
        (b'{"id":"1","orderId":"p","x":"\\ud800"}', P),
        (b'{"id":"1","orderId":"q"}', P),
        (b'{"orderId":"p"}', P),
        (b'{"id":"1","orderId":"p"}', {}),
        (b'{"id":"1","orderId":"p"}', {"x-ms-documentdb-partitionkey": "p"}),
        (b'{"id":"1","orderId":["p"]}', P),
        (b"{}", P | {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"}),
        (b"[]", P | {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "False"}),
        (b"\x81\xf0\xd8\xff", P | {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"}),
        (b"[]", P | {"x-ms-documentdb-isquery": "True"}),
        (b"{}", P | {"x-ms-documentdb-isquery": "True"}),
        (b'{"query":"SELECT * FROM c","parameters":{}}', P | {"x-ms-documentdb-isquery": "True"}),
        (b'{"query":"SELECT * FROM c","parameters":[1]}', P | {"x-ms-documentdb-isquery": "True"}),
        (b'{"query":"SELECT * FROM c"}', P | {"x-ms-documentdb-isquery": "True", "x-ms-max-item-count": "0"}),
        (b'{"query":"SELECT * FROM c"}', {"x-ms-documentdb-isquery": "True"}),
        (b'{"query":"SELECT * FROM c"}', P | {"x-ms-cosmos-is-query-plan-request": "True"}),
    ],
)
async def test_bad_input_is_400_with_a_code_and_a_message(call: Caller, body: bytes, headers: dict[str, str]) -> None:
    reply = await call("POST", DOCS, body, **headers)
    assert (reply.status, reply.json["code"]) == (400, "BadRequest")
    assert reply.json["message"]


@pytest.mark.parametrize(
    "operation",
    [
        1,
        {},
        {"operationType": "Create"},
        {"operationType": "Create", "resourceBody": []},
        {"operationType": "Read"},
        {"operationType": "Read", "id": 1},
        {"operationType": "Replace", "resourceBody": {}},
        {"operationType": "Patch", "id": "1"},
        {"operationType": "Delete", "id": "1", "ifMatch": 1},
    ],
)
async def test_a_malformed_operation_is_named(call: Caller, operation: object) -> None:
    flags = {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"}
    good = {"operationType": "Create", "resourceBody": {"id": "1", "orderId": "p"}}
    reply = await call("POST", DOCS, [good, operation], **P, **flags)
    assert reply.status == 400
    assert "1" in str(reply.json["message"]) or "patch" in str(reply.json["message"])
    assert (await call("GET", f"{DOCS}1/", **P)).status == 404


@pytest.mark.parametrize("item_id", [".", ".."])
async def test_dots_are_ids_and_no_way_up(call: Caller, item_id: str) -> None:
    created = await call("POST", DOCS, {"id": item_id, "orderId": "p"}, **P)
    found = await call("GET", f"{DOCS}{item_id}/", **P)
    assert (created.status, found.status, found.json) == (201, 200, created.json)


async def test_ids_that_are_no_text_are_404_and_cannot_be_created(call: Caller) -> None:
    flags = {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"}
    assert (await call("GET", f"{DOCS}%FF/", **P)).status == 404
    read = b'[{"operationType":"Read","id":"\\ud800"}]'
    assert json.loads((await call("POST", DOCS, read, **P, **flags)).body)[0]["statusCode"] == 404
    assert (await call("POST", DOCS, b'{"id":"\\ud800","orderId":"p"}', **P)).status == 400


async def test_more_than_two_megabytes_are_413(call: Caller) -> None:
    for headers in (P, P | {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"}):
        reply = await call("POST", DOCS, io.BytesIO(b" " * (2 * 1024 * 1024 + 1)), **headers)
        assert (reply.status, reply.json["code"]) == (413, "RequestEntityTooLarge")


async def test_a_read_feed_pages_through_one_partition_or_all(call: Caller) -> None:
    for number, partition in enumerate("pqpqp"):
        key = {"x-ms-documentdb-partitionkey": f'["{partition}"]'}
        await call("POST", DOCS, {"id": str(number), "orderId": partition}, **key)

    async def feed(**headers: str) -> list[list[str]]:
        pages: list[list[str]] = []
        continuation: dict[str, str] = {}
        for _ in range(9):
            reply = await call("GET", DOCS, **headers, **continuation, **{"x-ms-max-item-count": "2"})
            documents = json.loads(reply.body)["Documents"]
            assert reply.headers["x-ms-item-count"] == str(len(documents))
            pages.append([document["id"] for document in documents])
            if "x-ms-continuation" not in reply.headers:
                return pages
            continuation = {"x-ms-continuation": reply.headers["x-ms-continuation"]}
        raise AssertionError("the feed does not end")

    assert await feed() == [["0", "1"], ["2", "3"], ["4"]]
    assert await feed(**P) == [["0", "2"], ["4"]]
    assert (await call("GET", DOCS, **{"x-ms-continuation": "x"})).status == 400


async def test_the_change_feed_is_refused_rather_than_answered_as_a_plain_feed(call: Caller) -> None:
    reply = await call("GET", DOCS, **{"A-IM": "Incremental Feed"})
    assert reply.status == 400


async def test_a_client_that_goes_away_within_a_body_is_no_defect(
    store: Store, orders: Container, caplog: pytest.LogCaptureFixture
) -> None:
    ended = asyncio.Event()

    @web.middleware
    async def watch(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        finally:
            ended.set()

    application = Gateway(store, KEY).application()
    application.middlewares.append(watch)
    # As in production: the test server would cancel the handler instead.
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        reader, writer = await asyncio.open_connection(*runner.addresses[0])
        head = f"POST {DOCS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
        writer.write(head.encode())
        # The server is waiting for the body once it has said so.
        assert b"100 Continue" in await reader.readline()
        writer.write(b"{")
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(ended.wait(), 10)
    finally:
        await runner.cleanup()
    assert caplog.text == ""
    assert store.last_lsn(orders) == 0


async def test_direct_mode_is_told_what_to_do(store: Store) -> None:
    async with TestServer(Gateway(store, KEY).application()) as server, aiohttp.ClientSession() as session:
        url = URL(f"http://127.0.0.1:{server.port}//addresses/?$resolveFor=x", encoded=True)
        async with session.get(url) as response:
            assert response.status == 400
            assert "ConnectionMode.Gateway" in await response.text()
