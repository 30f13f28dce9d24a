"""`$management` of a queue: renewing locks, peeking, and settling where a link cannot.

An operation that this broker does not have is answered with 501 and `amqp:not-implemented`.

Source: Azure docs, "AMQP 1.0 in Azure Service Bus: request-response-based operations"; SDK azure-servicebus 7.15.0
`_common.mgmt_handlers`.
"""

from collections.abc import Callable, Mapping
from typing import Final, cast
from uuid import UUID

from devstack.servicebus.amqp.conditions import NOT_IMPLEMENTED
from devstack.servicebus.amqp.encode import timestamp_array
from devstack.servicebus.amqp.performatives import Error
from devstack.servicebus.amqp.types import Array, Int, Symbol, Value
from devstack.servicebus.broker.errors import (
    BrokerError,
    MessageLockLostError,
    NotAllowedError,
    SessionLockLostError,
)
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Outcome
from devstack.servicebus.broker.plain_queue import PlainQueue
from devstack.servicebus.broker.session_queue import SessionLock, SessionQueue
from devstack.servicebus.server.conditions import ARGUMENT_ERROR, to_amqp
from devstack.servicebus.server.payloads import delivered_message, milliseconds, timestamp
from devstack.servicebus.server.replies import Reply, Request
from devstack.servicebus.server.settlement import named_properties

_PREFIX: Final = "com.microsoft:"
_PEEK_MAX_MESSAGES: Final = 1000
_PEEK_MAX_BYTES: Final = 768 * 1024
_STATUS: Final[Mapping[type[BrokerError], int]] = {SessionLockLostError: 410, MessageLockLostError: 410}


class _BadArgumentError(Exception):
    """A request's body lacks a field, or has it in a wrong type."""


class Management:
    """Answers the requests on one queue or dead-letter queue.

    `find_session` returns the session that a receiver link of this name on the same connection holds.
    """

    def __init__(
        self,
        queue: PlainQueue | SessionQueue,
        find_session: Callable[[Value], SessionLock | None],
    ) -> None:
        self._queue = queue
        self._find_session = find_session
        self._operations: Mapping[str, Callable[[Request, Mapping[str, Value]], Reply]] = {
            "renew-lock": self._renew_lock,
            "renew-session-lock": self._renew_session_lock,
            "peek-message": self._peek,
            "update-disposition": self._update_disposition,
        }

    def answer(self, request: Request) -> Reply:
        """Carry out one operation; a refusal is an answer with its status and condition."""
        name = str(request.properties.get("operation", ""))
        operation = self._operations.get(name.removeprefix(_PREFIX))
        if operation is None:
            return _refusal(501, Error(NOT_IMPLEMENTED, f"The operation '{name}' is not supported."))
        body = {str(key): value for key, value in request.body.items()} if isinstance(request.body, dict) else {}
        try:
            return operation(request, body)
        except _BadArgumentError as error:
            return _refusal(400, Error(ARGUMENT_ERROR, str(error)))
        except BrokerError as error:
            return _refusal(_STATUS.get(type(error), 400), to_amqp(error))

    def _renew_lock(self, _: Request, body: Mapping[str, Value]) -> Reply:
        if not isinstance(self._queue, PlainQueue):
            raise NotAllowedError("A message of a session has no lock of its own: renew the session's lock.")
        renewed = [milliseconds(self._queue.renew(token)) for token in _tokens(body)]
        return _success({"expirations": timestamp_array(tuple(renewed))})

    def _renew_session_lock(self, request: Request, body: Mapping[str, Value]) -> Reply:
        queue, lock = self._session(request, body)
        return _success({"expiration": timestamp(queue.renew(lock))})

    def _peek(self, _: Request, body: Mapping[str, Value]) -> Reply:
        session_id = body.get("session-id")
        found = self._queue.peek(
            _number(body, "from-sequence-number"),
            min(_number(body, "message-count"), _PEEK_MAX_MESSAGES),
            session_id if isinstance(session_id, str) else None,
        )
        page: list[Value] = []
        size = 0
        for message in found:
            encoded = delivered_message(message, None)
            size += len(encoded)
            if page and size > _PEEK_MAX_BYTES:
                break
            page.append({"message": encoded})
        return _success({"messages": page}) if page else Reply(_status(204, "No messages."), {})

    def _update_disposition(self, request: Request, body: Mapping[str, Value]) -> Reply:
        outcome = _outcome(body)
        tokens = _tokens(body)
        if isinstance(self._queue, SessionQueue):
            queue, lock = self._session(request, body)
            for token in tokens:
                queue.settle_held(lock, token, outcome)
        else:
            for token in tokens:
                self._queue.settle(token, outcome)
        return _success({})

    def _session(self, request: Request, body: Mapping[str, Value]) -> tuple[SessionQueue, SessionLock]:
        """Return the session that the request is about, which the link that it names has to hold."""
        if not isinstance(self._queue, SessionQueue):
            raise NotAllowedError(f"'{self._queue.settings.name}' has no sessions.")
        session_id = body.get("session-id")
        lock = self._find_session(request.properties.get("associated-link-name"))
        if lock is None or lock.session_id != session_id:
            raise SessionLockLostError(f"The session '{session_id}' is not held by the link that asks.")
        return self._queue, lock


def _success(body: Mapping[str, Value]) -> Reply:
    return Reply(_status(200, "OK"), dict(cast("Mapping[Value, Value]", body)))


def _refusal(code: int, error: Error) -> Reply:
    return Reply({**_status(code, error.description), "errorCondition": Symbol(error.condition)}, {})


def _status(code: int, description: str | None) -> dict[Value, Value]:
    return {"statusCode": Int(code), "statusDescription": description}


def _tokens(body: Mapping[str, Value]) -> list[UUID]:
    tokens = body.get("lock-tokens")
    items = tokens.items if isinstance(tokens, Array) else tokens
    if not isinstance(items, list | tuple) or not all(isinstance(token, UUID) for token in items):
        raise _BadArgumentError("lock-tokens: has to be an array of uuid.")
    return [token for token in items if isinstance(token, UUID)]


def _number(body: Mapping[str, Value], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _BadArgumentError(f"{name}: has to be a number.")
    return value


def _text(body: Mapping[str, Value], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _outcome(body: Mapping[str, Value]) -> Outcome:
    modified = body.get("properties-to-modify")
    properties = named_properties(modified) if isinstance(modified, dict) else {}
    match body.get("disposition-status"):
        case "completed":
            return Complete()
        case "abandoned":
            return Abandon(properties)
        case "suspended":
            return DeadLetter(_text(body, "deadletter-reason"), _text(body, "deadletter-description"), properties)
        case _:
            raise _BadArgumentError("disposition-status: has to be completed, abandoned or suspended.")
