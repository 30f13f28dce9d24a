from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from samples.addresses import DemoError
from samples.online_retail import Order
from samples.orders_api import place, show_operation
from samples.plans import Post, story
from samples.request_hash import request_hash

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def api(handler: Handler) -> AsyncIterator[aiohttp.ClientSession]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(app) as server, aiohttp.ClientSession(server.make_url("/")) as session:
        yield session


@pytest.fixture
def order() -> Order:
    post = story("1").steps[0]
    assert isinstance(post, Post)
    return post.order


async def test_the_order_is_posted_with_its_length_and_the_location_made_absolute(order: Order) -> None:
    async def accept(request: web.Request) -> web.Response:
        # The Functions host hands a chunked body to the app as an empty one.
        assert (request.method, request.path) == ("POST", "/api/orders")
        assert request.content_length is not None
        assert await request.json() == order
        answer = {"operationId": order["operationId"], "requestHash": request_hash(order)}
        return web.json_response(answer, status=202, headers={"Location": "/api/orders/web-1"})

    async with api(accept) as session:
        location = await place(session, order)
    assert location.startswith("http://127.0.0.1:")
    assert location.endswith("/api/orders/web-1")


@pytest.mark.parametrize(
    ("status", "headers", "body", "wording"),
    [
        (400, {}, '{"title": "lines: must not be empty"}', "got 400 .*lines: must not be empty"),
        (202, {}, "{}", "expected 202 with a Location"),
        (202, {"Location": "/x"}, '{"requestHash": "v1:0"}', "expected requestHash v1:"),
        (202, {"Location": "/x"}, "accepted", "expected requestHash v1:"),
        (202, {"Location": "/x"}, "[]", "expected requestHash v1:"),
    ],
)
async def test_any_other_answer_ends_the_demo(
    order: Order, status: int, headers: dict[str, str], body: str, wording: str
) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=status, headers=headers, text=body)

    async with api(answer) as session:
        with pytest.raises(DemoError, match=wording):
            await place(session, order)


async def test_what_the_location_leads_to_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"state": "applied"})

    async with api(answer) as session:
        await show_operation(session, "/api/orders/a/operations/a")
    assert '{"state": "applied"}' in capsys.readouterr().out


async def test_a_location_that_leads_nowhere_ends_the_demo() -> None:
    async def answer(_request: web.Request) -> web.Response:
        raise web.HTTPNotFound

    async with api(answer) as session:
        with pytest.raises(DemoError, match="expected 200, got 404"):
            await show_operation(session, "/api/orders/a")
