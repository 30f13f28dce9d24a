"""The control API of a part: faults are asked for over HTTP, on loopback, and only where a test opened it.

POST /faults      add one; 204, or 400 with the rule that it breaks
GET /faults       the faults that are waiting, and how often each has come true
DELETE /faults    forget them all
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web


class FaultError(ValueError):
    """A fault breaks a rule; the text names the field."""


class Faults(Protocol):
    """The faults of one part."""

    def add(self, rule: bytes) -> None:
        """Take one.

        Raises:
            FaultError: it is not one.
        """
        ...

    def clear(self) -> None:
        """Forget them all."""
        ...

    def report(self) -> list[dict[str, object]]:
        """Each with its count, as JSON."""
        ...


@asynccontextmanager
async def serve_control(faults: Faults, port: int) -> AsyncIterator[str]:
    """Serve the API on 127.0.0.1 until the block ends; yields its URL.

    Raises:
        OSError: the port cannot be bound.
    """

    async def add(request: web.Request) -> web.Response:
        try:
            faults.add(await request.read())
        except FaultError as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=204)

    async def clear(_: web.Request) -> web.Response:
        faults.clear()
        return web.Response(status=204)

    async def report(_: web.Request) -> web.Response:
        return web.json_response(faults.report())

    application = web.Application()
    application.add_routes([web.post("/faults", add), web.delete("/faults", clear), web.get("/faults", report)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
