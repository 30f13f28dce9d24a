"""A proxy in front of the store that writes down every request, and loses or delays those that a test names.

The store builds the endpoint that it advertises from the Host header, so that every request of a client goes this way.
"""

import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import assert_never

import aiohttp
from aiohttp import web
from yarl import URL

_HOP_HEADERS = {"content-length", "transfer-encoding", "connection", "content-encoding"}


@dataclass(frozen=True)
class LostRequest:
    """The connection is reset before the store has seen the request."""


@dataclass(frozen=True)
class LostAnswer:
    """The store answers, and the connection is reset before the answer is passed on."""


@dataclass(frozen=True)
class HangingRequest:
    """The store never sees the request, and nobody answers."""


@dataclass(frozen=True)
class HangingAnswer:
    """The store answers, and the answer is never passed on."""


@dataclass(frozen=True)
class Answered:
    """The proxy answers in the store's place."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


type Fault = LostRequest | LostAnswer | HangingRequest | HangingAnswer | Answered


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        kind: `read`, `query`, `create` or `batch` of items; `metadata` for all else.
        path: of its URL; `/` is the account.
        headers: its headers.
        body: its body.
        status: the store's answer, None where it has none.
    """

    kind: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    status: int | None

    @property
    def written(self) -> int:
        """How many documents it wrote."""
        if self.status not in {200, 201} or self.kind not in {"create", "batch"}:
            return 0
        return len(json.loads(self.body)) if self.kind == "batch" else 1


@dataclass
class StoreProxy:
    """The proxy.

    Attributes:
        upstream_port: the store's port.
        faults: of the next requests on items, in order; all others pass.
        metadata_fault: of every request on anything else.
        calls: what has come through.
        port: its own port.
    """

    upstream_port: int
    faults: deque[Fault] = field(default_factory=deque)
    metadata_fault: Fault | None = None
    calls: list[Call] = field(default_factory=list)
    port: int = 0
    _runner: web.AppRunner | None = None

    @property
    def kinds(self) -> list[str]:
        """Kinds of the calls, in order."""
        return [call.kind for call in self.calls]

    @property
    def written(self) -> int:
        """How many documents the calls wrote."""
        return sum(call.written for call in self.calls)

    async def start(self) -> None:
        """Listen: on a free port at first, then on the same one."""
        application = web.Application(client_max_size=16 * 1024 * 1024)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Refuse connections, and end those that are open."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        kind = _kind(request)
        fault = self.metadata_fault if kind == "metadata" else self.faults.popleft() if self.faults else None
        match fault:
            case None:
                return await self._forward(request, kind, body)
            case LostRequest():
                self._note(request, kind, body, None)
                return _reset(request)
            case LostAnswer():
                await self._forward(request, kind, body)
                return _reset(request)
            case HangingRequest():
                self._note(request, kind, body, None)
                await asyncio.Event().wait()
                raise AssertionError("an event that nobody sets is set")
            case HangingAnswer():
                await self._forward(request, kind, body)
                await asyncio.Event().wait()
                raise AssertionError("an event that nobody sets is set")
            case Answered(status, headers):
                self._note(request, kind, body, None)
                return web.json_response(
                    {"code": str(status), "message": "by the test"}, status=status, headers=headers
                )
            case other:
                assert_never(other)

    async def _forward(self, request: web.Request, kind: str, body: bytes) -> web.Response:
        url = URL(f"http://127.0.0.1:{self.upstream_port}{request.raw_path}", encoded=True)
        # The Host header is the client's: the store advertises it.
        async with (
            aiohttp.ClientSession() as session,
            session.request(request.method, url, headers=request.headers, data=body) as answer,
        ):
            self._note(request, kind, body, answer.status)
            headers = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_HEADERS}
            return web.Response(status=answer.status, headers=headers, body=await answer.read())

    def _note(self, request: web.Request, kind: str, body: bytes, status: int | None) -> None:
        self.calls.append(Call(kind, request.path, dict(request.headers), body, status))


@asynccontextmanager
async def store_proxy(upstream_port: int) -> AsyncIterator[StoreProxy]:
    """Run a proxy on a free port."""
    proxy = StoreProxy(upstream_port)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()


def _kind(request: web.Request) -> str:
    if "/docs" not in request.path:
        return "metadata"
    if request.headers.get("x-ms-cosmos-is-batch-request"):
        return "batch"
    if request.headers.get("x-ms-documentdb-isquery"):
        return "query"
    return {"GET": "read", "POST": "create"}[request.method]


def _reset(request: web.Request) -> web.Response:
    transport = request.transport
    assert transport is not None
    # No linger: the connection ends with a reset, not with an orderly end.
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    return web.Response()
