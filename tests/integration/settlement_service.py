"""The Functions host's Settlement service, as a gRPC server that a test drives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc

from devstack.functions.settlement.protobuf import SettlementRequest, decode_request

type Context = grpc.aio.ServicerContext[bytes, bytes]


@dataclass
class SettlementService:
    """Answers `Deadletter` calls.

    Attributes:
        requests: the octets of each call, as they came.
        refusal: status and text of every answer; None accepts.
        answers: whether it answers at all.
    """

    target: str = ""
    requests: list[bytes] = field(default_factory=list)
    refusal: tuple[grpc.StatusCode, str] | None = None
    answers: bool = True

    @property
    def decoded(self) -> list[SettlementRequest]:
        """The calls, decoded by the local stack's decoder: it shares no code with the encoder."""
        return [decode_request(octets) for octets in self.requests]

    async def dead_letter(self, octets: bytes, context: Context) -> bytes:
        self.requests.append(octets)
        if not self.answers:
            await asyncio.Event().wait()
        if self.refusal is not None:
            await context.abort(*self.refusal)
        return b""


@asynccontextmanager
async def settlement_service() -> AsyncIterator[SettlementService]:
    """Serve on a free port of this machine."""
    service = SettlementService()
    server = grpc.aio.server()
    method = grpc.unary_unary_rpc_method_handler(service.dead_letter)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Settlement", {"Deadletter": method}),))
    service.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield service
    finally:
        await server.stop(None)
