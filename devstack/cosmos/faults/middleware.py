"""Faults between the socket and the gateway."""

import asyncio
import socket
import struct
from typing import Final, NoReturn, assert_never

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.faults.rules import Answer, FaultBook, Hang, Kind, Reset
from devstack.cosmos.json_values import JsonObject, read_json, write_json
from devstack.cosmos.wire import headers as names
from devstack.cosmos.wire.paths import ResourceType, parse_path

_VERBS: Final[dict[str, Kind]] = {"GET": "read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}
_NO_LINGER: Final = struct.pack("ii", 1, 0)  # the connection ends with a reset, not with an orderly end


def inject(faults: FaultBook) -> Middleware:
    """The middleware that lets requests meet their faults."""

    @web.middleware
    async def meet(request: web.Request, handler: Handler) -> web.StreamResponse:
        kind, partition = kind_of(request), _partition_of(request)
        fault = faults.take(kind, partition)
        response: web.StreamResponse | None = None
        if fault is None or fault.applied:
            response = await handler(request)
            # A batch that failed is a 207.
            if response.status < 300 and response.status != 207:
                faults.took_effect(kind, partition)
        match fault:
            case None:
                assert response is not None  # noqa: S101 - handled above
                return response
            case Answer():
                return _answer(fault, await request.read())
            case Reset():
                _reset(request)
            case Hang():
                # Until the client goes away.
                while request.transport is not None:  # noqa: ASYNC110 - aiohttp tells it in no other way
                    await asyncio.sleep(0.02)
                raise asyncio.CancelledError
            case _:
                assert_never(fault)

    return meet


def kind_of(request: web.Request) -> Kind:
    """What a request asks for."""
    try:
        path = parse_path(request.raw_path)
    except CosmosError:
        return "metadata"
    if path.type is not ResourceType.ITEMS:
        return "metadata"
    if request.method != "POST":
        return _VERBS.get(request.method, "metadata") if path.item else "query"
    if names.flag(request.headers, names.IS_BATCH):
        return "batch"
    if names.flag(request.headers, names.IS_QUERY):
        return "query"
    return "upsert" if names.flag(request.headers, names.IS_UPSERT) else "create"


def _partition_of(request: web.Request) -> str | None:
    try:
        key = read_json(request.headers.get(names.PARTITION_KEY, "").encode())
    except (CosmosError, ValueError):
        return None
    return key[0] if isinstance(key, list) and key and isinstance(key[0], str) else None


def _answer(fault: Answer, body: bytes) -> web.Response:
    headers = {names.SUB_STATUS: str(fault.sub_status), "Content-Type": "application/json"}
    if fault.retry_after_ms is not None:
        headers[names.RETRY_AFTER] = str(fault.retry_after_ms)
    if fault.operation is None:
        text = write_json({"code": str(fault.status), "message": "As a test asked for."})
        return web.Response(status=fault.status, body=text, headers=headers)
    operations = read_json(body)
    count = len(operations) if isinstance(operations, list) else 0
    results = [_result(fault, index == fault.operation) for index in range(count)]
    headers[names.SUB_STATUS] = "0"
    return web.Response(status=207, body=write_json(list(results)), headers=headers)


def _result(fault: Answer, is_blamed: bool) -> JsonObject:
    if not is_blamed:
        return {"statusCode": 424, "subStatusCode": 0, "requestCharge": 1.0}
    result: JsonObject = {"statusCode": fault.status, "subStatusCode": fault.sub_status, "requestCharge": 1.0}
    if fault.retry_after_ms is not None:
        result["retryAfterMilliseconds"] = fault.retry_after_ms
    return result


def _reset(request: web.Request) -> NoReturn:
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        transport.abort()
    raise asyncio.CancelledError
