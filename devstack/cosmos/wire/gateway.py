"""From an HTTP request to its answer: authorize, dispatch, and tell every fault as Cosmos DB does."""

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from devstack.cosmos.errors import (
    COLLECTION_RID_MISMATCH,
    CosmosError,
    bad_request,
    internal_error,
    method_not_allowed,
    too_large,
)
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire import headers as names
from devstack.cosmos.wire.answers import Answer, error_answer
from devstack.cosmos.wire.auth import authorize
from devstack.cosmos.wire.item_requests import answer_items
from devstack.cosmos.wire.metadata import account, find_container, partition_key_ranges, read_metadata
from devstack.cosmos.wire.paths import ResourceType, parse_path
from devstack.cosmos.wire.request import Request

_log = logging.getLogger(__name__)

# Well above the 2 MB rule, so that this rule answers 413: a body cut off by the server resets the connection.
BODY_BYTES_MAX: Final = 16 * 1024 * 1024


class Gateway:
    """The account's one endpoint. Once its body is read, a request runs to its end: none interleave."""

    def __init__(self, store: Store, key: bytes, new_uuid: Callable[[], uuid.UUID] = uuid.uuid4) -> None:
        self._store = store
        self._key = key
        self._new_uuid = new_uuid

    def application(self, middlewares: Sequence[Middleware] = ()) -> web.Application:
        """The aiohttp application: one handler for all paths, because ids may look like any path."""
        application = web.Application(client_max_size=BODY_BYTES_MAX, middlewares=middlewares)
        application.router.add_route("*", "/{path:.*}", self.handle)
        return application

    async def handle(self, http_request: web.Request) -> web.Response:
        """Answer one request; a fault becomes a JSON error, an unforeseen one a 500 that the log explains."""
        activity_id = self._activity_id(http_request.headers.get(names.ACTIVITY_ID))
        container: Container | None = None
        try:
            request = await _read(http_request)
            authorize(
                self._key,
                request.verb,
                request.path.type,
                request.path.signed_links,
                request.headers.get(names.DATE),
                request.headers.get("Authorization"),
            )
            container = self._container(request)
            answer = self._dispatch(request, container)
        except CosmosError as error:
            answer = error_answer(error, activity_id)
        except Exception:  # noqa: BLE001 - the boundary: the client gets an answer, the log the cause
            _log.exception("request failed: activity_id=%s", activity_id)
            answer = error_answer(internal_error(), activity_id)
        _log.debug("%s activity_id=%s status=%d", http_request.method, activity_id, answer.status)
        return self._response(answer, container, activity_id)

    def _container(self, request: Request) -> Container | None:
        """The container of a request on items or ranges; its rid must be the one that the client knows."""
        if request.path.type not in (ResourceType.ITEMS, ResourceType.PARTITION_KEY_RANGES):
            return None
        container = find_container(self._store, request.path)
        intended = request.headers.get(names.INTENDED_CONTAINER_RID)
        if intended is not None and intended != container.rid:
            raise bad_request("The container was created anew since the client read it.", COLLECTION_RID_MISMATCH)
        return container

    def _dispatch(self, request: Request, container: Container | None) -> Answer:
        match request.path.type:
            case ResourceType.ACCOUNT:
                if request.verb != "GET":
                    raise method_not_allowed("The account can only be read.")
                return account(request.endpoint)
            case ResourceType.DATABASES | ResourceType.CONTAINERS:
                return read_metadata(self._store, request.verb, request.path)
            case ResourceType.PARTITION_KEY_RANGES if container is not None:
                if request.verb != "GET":
                    raise method_not_allowed("Partition key ranges can only be read.")
                return partition_key_ranges(container, request.headers.get("If-None-Match"))
            case ResourceType.ITEMS if container is not None:
                return answer_items(self._store, container, request)
        raise AssertionError(f"no container for {request.path.type}")

    def _response(self, answer: Answer, container: Container | None, activity_id: str) -> web.Response:
        headers = {
            names.ACTIVITY_ID: activity_id,
            names.REQUEST_CHARGE: f"{answer.charge:.2f}",
            **answer.headers,
        }
        if container is not None:
            # On errors too: after a 409 a client reads with this token, and drops it without the path.
            headers[names.SESSION_TOKEN] = f"0:-1#{self._store.last_lsn(container)}"
            headers[names.ALT_CONTENT_PATH] = f"dbs/{container.database.name}/colls/{container.name}"
            headers[names.PARTITION_KEY_RANGE_ID] = "0"
        if answer.body:
            headers["Content-Type"] = "application/json"
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    def _activity_id(self, requested: str | None) -> str:
        """The client's own id if it is a GUID; anything else would break the .NET client."""
        try:
            return str(uuid.UUID(requested))
        except (TypeError, ValueError, AttributeError):
            return str(self._new_uuid())


async def _read(request: web.Request) -> Request:
    path = parse_path(request.raw_path)
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise too_large(f"Request size is too large: at most {BODY_BYTES_MAX} bytes can be read.") from error
    except ConnectionError as error:
        # Nobody reads this answer; it ends the request as one that was never taken up.
        raise bad_request("The connection ended before the whole body came.") from error
    endpoint = f"{request.scheme}://{request.host}/"
    return Request(request.method, path, request.headers, body, endpoint)
