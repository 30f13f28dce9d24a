"""From an HTTP request to what the worker gets, and back.

Source: measured on Azure Functions host 4.1037.
"""

import re
import secrets
from collections.abc import Iterable
from typing import Final

from aiohttp import HttpVersion11, web

from devstack.functions import wire

_TRACE_PARENT: Final = re.compile(r"[0-9a-f]{2}-(?P<trace_id>[0-9a-f]{32})-[0-9a-f]{16}-(?P<flags>[0-9a-f]{2})")
# The front frames the answer itself.
_FRAMING_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "connection"})


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined = dict[str, str]()
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def is_text(request: web.Request) -> bool:
    """Whether target and headers are UTF-8; aiohttp hands over other octets as lone surrogates.

    Source: Kestrel, `RequestHeaderEncodingSelector`: UTF-8 unless told, and 400 for what is not.
    """
    try:
        "".join([request.raw_path, *map("".join, request.headers.items())]).encode()
    except UnicodeEncodeError:
        return False
    return True


async def request_data(request: web.Request, route_parameters: dict[str, str]) -> wire.HttpRequestData:
    """The worker's view: lower-case headers, repeated ones joined, empty query values dropped.

    A chunked body is dropped: the real host reads a body only when there is a Content-Length.
    """
    body = await request.read() if request.headers.get("Content-Length") else b""
    return wire.HttpRequestData(
        method=request.method,
        url=str(request.url),
        headers=_joined((name.lower(), value) for name, value in request.headers.items()),
        params=route_parameters,
        query=_joined((name, value) for name, value in request.query.items() if value),
        body=body,
    )


def trace_parent(request: web.Request) -> str:
    """A new span in the caller's trace, or in a new one."""
    match = _TRACE_PARENT.fullmatch(request.headers.get("traceparent", ""))
    trace_id, flags = (match["trace_id"], match["flags"]) if match else (secrets.token_hex(16), "00")
    return f"00-{trace_id}-{secrets.token_hex(8)}-{flags}"


def response_of(request: web.Request, outcome: wire.Outcome) -> web.Response:
    """The function's answer, chunked as the real host sends it; 500 without body for a failure."""
    match outcome:
        case wire.Succeeded(wire.HttpResponseData() as answer):
            headers = {name: value for name, value in answer.headers.items() if name.lower() not in _FRAMING_HEADERS}
            response = web.Response(status=answer.status, headers=headers, body=answer.body)
            if request.version >= HttpVersion11:
                response.enable_chunked_encoding()
            return response
        case _:
            return empty(500)


def empty(status: int, headers: dict[str, str] | None = None) -> web.Response:
    """An answer without body."""
    return web.Response(status=status, headers=headers)
