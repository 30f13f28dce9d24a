"""Dead-lettering through the host's Settlement service.

Completing and abandoning are the host's: a function that returns completes its message unless that was settled
before, one that raises abandons it. So this is the only explicit settlement.

Source: measured on the Functions host 4.1037: gRPC service `/Settlement/` on the worker's own endpoint, method
`Deadletter {1: lock token, 3: reason (StringValue), 4: description (StringValue)}` -> Empty; an unknown token is
FAILED_PRECONDITION, a refusal of the broker UNKNOWN; tokens live as long as the invocation.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from uuid import UUID

import grpc
import grpc.aio

from shared.idempotency.errors import TransientError

REASON_LENGTH_MAX: Final = 256
DESCRIPTION_LENGTH_MAX: Final = 1024
"""Characters; well inside the 4,096 that the broker takes for each. Source: Service Bus quotas, property size."""


class SettlementError(TransientError):
    """The message may not be dead-lettered. The caller raises, or the host would complete the message."""


class Settlement:
    """The host's settlement service, on one channel per process and loop."""

    def __init__(self, target: str, *, deadline_seconds: float) -> None:
        self._deadline_seconds = deadline_seconds
        # The worker's endpoint is on this machine: a proxy for the world outside must not be asked.
        self._channel = grpc.aio.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)])
        self._dead_letter = self._channel.unary_unary("/Settlement/Deadletter")

    async def dead_letter(self, lock_token: UUID | str, *, reason: str, description: str) -> None:
        """Move the message to the dead-letter queue.

        After it the function returns normally. A crash before it leaves the message to be delivered and judged again.

        Raises:
            SettlementError: not confirmed in time, or refused (lock lost). Raise: the message comes again.
        """
        request = (
            _text_field(1, str(lock_token))
            + _wrapped_field(3, reason[:REASON_LENGTH_MAX])
            + _wrapped_field(4, description[:DESCRIPTION_LENGTH_MAX])
        )
        try:
            async with asyncio.timeout(self._deadline_seconds):
                await self._dead_letter(request, timeout=self._deadline_seconds)
        except grpc.aio.AioRpcError as error:
            raise SettlementError(f"dead-letter: {error.code().name}") from error
        except TimeoutError as error:
            raise SettlementError("dead-letter: no answer in time") from error

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


def settlement_target(arguments: Sequence[str]) -> str | None:
    """`host:port` of the worker's gRPC endpoint, from the worker's command line; None outside a Functions worker.

    Source: worker start, measured: `--functions-uri http://127.0.0.1:PORT/`, also `--host H --port P`.
    """
    options = dict(pairwise(arguments))
    if uri := options.get("--functions-uri"):
        return uri.removeprefix("http://").rstrip("/")
    if "--host" in options and "--port" in options:
        return f"{options['--host']}:{options['--port']}"
    return None


# Protocol buffers, by hand: three text fields do not carry the weight of a code generator, and the app's protobuf
# package would have to agree with the one that the worker has already loaded.
# Source: protobuf encoding, length-delimited fields (wire type 2).
def _text_field(number: int, text: str) -> bytes:
    return _delimited(number, text.encode("utf-8", "replace"))


def _wrapped_field(number: int, text: str) -> bytes:
    """google.protobuf.StringValue: a message whose field 1 is the text."""
    return _delimited(number, _text_field(1, text))


def _delimited(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
