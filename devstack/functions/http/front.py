"""The HTTP server: keys, the admin paths, and the functions.

Every refusal has an empty body, as measured on Azure Functions host 4.1037.
"""

import hmac
import time
from typing import Final

from aiohttp import web

from devstack.functions.host_json import HttpSettings
from devstack.functions.http.requests import empty, is_text, request_data, response_of, trace_parent
from devstack.functions.http.routes import RouteMatch, RouteTable
from devstack.functions.http.throttle import Throttle, TooManyRequestsError
from devstack.functions.invocations import Invocations
from devstack.functions.triggers import AuthLevel

BODY_BYTES_MAX: Final = 104_857_600


class PortTakenError(Exception):
    """The port cannot be bound; the text says how to choose another."""


SHUTDOWN_SECONDS: Final = 10.0
"""How long requests in flight may go on after the port is closed; half a body does not hold up the host."""


class HttpFront:
    """Serves the functions of one app; ``key`` is the master key, which opens everything."""

    def __init__(self, *, routes: RouteTable, invocations: Invocations, settings: HttpSettings, key: str) -> None:
        self._routes = routes
        self._invocations = invocations
        self._throttle = Throttle(settings)
        self._key = key
        self._started = time.monotonic()
        # handle() refuses larger bodies by their Content-Length, so this limit is never the one that speaks.
        application = web.Application(client_max_size=BODY_BYTES_MAX + 1)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            application, access_log=None, auto_decompress=False, shutdown_timeout=SHUTDOWN_SECONDS
        )

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port (chosen by the system when ``port`` is 0).

        Raises:
            PortTakenError: another process has the port, or it may not be bound.
        """
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise PortTakenError(
                f"port {port} of {host} cannot be bound ({error.strerror}); stop what uses it, or choose "
                "another port (0: a free one)"
            ) from error
        bound: int = self._runner.addresses[0][1]
        return bound

    async def close(self) -> None:
        """Close the port and idle connections at once, and wait for the requests in flight."""
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        if not is_text(request):
            return empty(400)
        if request.path.lower().startswith("/admin/"):
            return self._admin(request)
        match = self._routes.match(request.method, request.rel_url.raw_path)
        if match is None:
            return empty(404)
        if match.trigger.auth_level is not AuthLevel.ANONYMOUS and not self._has_key(request):
            return empty(401)
        if (request.content_length or 0) > BODY_BYTES_MAX:
            return empty(500)
        try:
            async with self._throttle.admit():
                return await self._invoke(request, match)
        except TooManyRequestsError:
            return empty(429, {"X-FUNCTION-SCALEOUT": "1"})

    async def _invoke(self, request: web.Request, match: RouteMatch) -> web.Response:
        outcome = await self._invocations.run(
            match.trigger.function,
            await request_data(request, match.parameters),
            trace_parent=trace_parent(request),
            trace_state=request.headers.get("tracestate", ""),
        )
        return response_of(request, outcome)

    def _has_key(self, request: web.Request) -> bool:
        given = request.headers.get("x-functions-key") or request.query.get("code", "")
        return hmac.compare_digest(given.encode(), self._key.encode())

    def _admin(self, request: web.Request) -> web.Response:
        path = request.path.rstrip("/").lower()
        if request.method == "GET" and path == "/admin/host/ping":
            return empty(200)
        if not self._has_key(request):
            return empty(401, {"WWW-Authenticate": "Bearer"})
        if request.method == "GET" and path == "/admin/host/status":
            uptime_ms = int((time.monotonic() - self._started) * 1000)
            return web.json_response({"state": "Running", "processUptime": uptime_ms})
        return empty(404)
