"""The Settlement service: the app settles a message while its function runs.

Unknown tokens are FAILED_PRECONDITION, refusals of the broker UNKNOWN with its text, as measured on Azure
Functions host 4.1037.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

import grpc

from devstack.functions.settlement.deliveries import RunningDeliveries
from devstack.functions.settlement.protobuf import SettlementRequest, WireError, decode_request
from devstack.servicebus.client import Abandon, Complete, DeadLetter, ServiceBusClientError

type _Context = grpc.aio.ServicerContext[bytes, bytes]
type _Settlement = Complete | Abandon | DeadLetter

# The .NET client refuses longer ones itself. Source: Azure.Messaging.ServiceBus, DeadLetterMessageAsync.
_TEXT_LENGTH_MAX: Final = 4096
_EMPTY: Final = b""
_log = logging.getLogger("Host.Settlement")


class _Refused(Exception):  # noqa: N818 - what happened to the call
    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class SettlementService:
    """Complete, Abandon and Deadletter; the methods are called by gRPC alone."""

    def __init__(self, deliveries: RunningDeliveries) -> None:
        self._deliveries: Final = deliveries

    def handler(self) -> grpc.GenericRpcHandler:
        """The service, to be added to the host's gRPC server."""
        methods = {
            "Complete": self._method(lambda _: Complete()),
            "Abandon": self._method(lambda _: Abandon()),
            "Deadletter": self._method(_dead_letter),
        }
        return grpc.method_handlers_generic_handler(
            "Settlement", {name: grpc.unary_unary_rpc_method_handler(call) for name, call in methods.items()}
        )

    def _method(
        self, settlement_of: Callable[[SettlementRequest], _Settlement]
    ) -> Callable[[bytes, _Context], Awaitable[bytes]]:
        async def call(octets: bytes, context: _Context) -> bytes:
            try:
                request = _request(octets)
                await self._settle(request.lock_token, settlement_of(request))
            except _Refused as refused:
                await context.abort(refused.code, str(refused))
            return _EMPTY

        return call

    async def _settle(self, lock_token: str, settlement: _Settlement) -> None:
        try:
            running = self._deliveries.find(UUID(lock_token))
        except ValueError:
            running = None
        if running is None:
            raise _Refused(grpc.StatusCode.FAILED_PRECONDITION, f"LockToken {lock_token} not found.")
        try:
            await running.settle(settlement)
        except ServiceBusClientError as error:
            text = f"{type(error).__name__}: {error}"
            _log.warning("%s of lock token %s refused: %s", type(settlement).__name__, lock_token, text)
            raise _Refused(grpc.StatusCode.UNKNOWN, text) from error


def _request(octets: bytes) -> SettlementRequest:
    try:
        request = decode_request(octets)
    except WireError as error:
        raise _Refused(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
    if request.properties_to_modify:
        raise _Refused(grpc.StatusCode.UNIMPLEMENTED, "propertiesToModify is not served by the local host")
    return request


def _dead_letter(request: SettlementRequest) -> DeadLetter:
    for name, text in (
        ("deadLetterReason", request.reason),
        ("deadLetterErrorDescription", request.description),
    ):
        if len(text) > _TEXT_LENGTH_MAX:
            raise _Refused(grpc.StatusCode.UNKNOWN, f"{name}: at most {_TEXT_LENGTH_MAX} characters, not {len(text)}")
    return DeadLetter(request.reason, request.description)
