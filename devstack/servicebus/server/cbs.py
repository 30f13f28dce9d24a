"""`$cbs`: tokens are put here before a link may be attached.

The token's `type` does not tell them apart: azure-servicebus says `jwt` even for a shared access signature, .NET
says `servicebus.windows.net:sastoken`.

Source: OASIS AMQP Claims-based Security 1.0 (draft); SDK azure-servicebus 7.15.0 `_pyamqp.cbs`.
"""

import logging
from typing import Final

from devstack.servicebus.amqp.types import Int, Value
from devstack.servicebus.sas import Grant, InvalidTokenError, verify
from devstack.servicebus.server.addresses import covers
from devstack.servicebus.server.namespace import Namespace
from devstack.servicebus.server.replies import Reply, Request

_logger = logging.getLogger(__name__)
_TOKEN_TYPES: Final = ("jwt", "servicebus.windows.net:sastoken")


class Grants:
    """What one connection may do."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._grants: dict[str, Grant] = {}

    def allow(self, path: str) -> bool:
        """Whether an unexpired token reaches this path."""
        now = self._namespace.clock()
        return any(grant.expires_at > now and covers(grant.resource, path) for grant in self._grants.values())

    def answer(self, request: Request) -> Reply:
        """Take a token."""
        operation, token_type = request.properties.get("operation"), request.properties.get("type")
        if operation != "put-token":
            return _reply(501, "operation: only put-token is supported.")
        if token_type not in _TOKEN_TYPES:
            return _reply(400, f"type: has to be one of {', '.join(_TOKEN_TYPES)}.")
        if not isinstance(request.body, str):
            return _reply(400, "The body has to be the token, as a string.")
        try:
            grant = verify(request.body, self._namespace.keys, self._namespace.clock())
        except InvalidTokenError as error:
            _logger.warning("put-token refused: %s", error)
            return _reply(401, f"InvalidSignature: {error}.")
        self._grants[grant.resource] = grant
        return _reply(202, "Accepted")


def _reply(code: int, description: Value) -> Reply:
    return Reply({"status-code": Int(code), "status-description": description})
