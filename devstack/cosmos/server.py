"""The emulator on a TCP port: it is ready when a signed request through the socket was answered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate

import aiohttp
from aiohttp import web

from devstack.cosmos.faults.middleware import inject
from devstack.cosmos.faults.rules import FaultBook
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire import headers as names
from devstack.cosmos.wire.auth import authorization_header
from devstack.cosmos.wire.gateway import Gateway

_SHUTDOWN_SECONDS = 1.0
_PROBE_SECONDS = 10.0


class NotReadyError(Exception):
    """The port listens, but a signed request was not answered with 200."""


@asynccontextmanager
async def serve(store: Store, key: bytes, host: str, port: int, faults: FaultBook | None = None) -> AsyncIterator[int]:
    """Serve until the block ends; yields the port (a free one, if 0 was asked) once the server is ready.

    Raises:
        OSError: the address cannot be bound.
        NotReadyError: the probe was refused.
    """
    application = Gateway(store, key).application([] if faults is None else [inject(faults)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound_port = int(runner.addresses[0][1])
        await _probe(key, host, bound_port)
        yield bound_port
    finally:
        await runner.cleanup()


async def _probe(key: bytes, host: str, port: int) -> None:
    date = formatdate(usegmt=True)
    headers = {names.DATE: date, "Authorization": authorization_header(key, "GET", "", "", date)}
    timeout = aiohttp.ClientTimeout(total=_PROBE_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(f"http://{host}:{port}/", headers=headers) as response,
    ):
        if response.status != 200:
            raise NotReadyError(f"a signed request to port {port} was answered with {response.status}")
