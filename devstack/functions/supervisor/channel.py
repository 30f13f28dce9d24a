"""The host's side of the stream of one worker."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import assert_never

import grpc

from devstack.functions import wire

_worker_log = logging.getLogger("Worker")


class AppError(Exception):
    """The app cannot be imported or indexed; the text holds the traceback. Mend the app."""


class WorkerChannel:
    """Sends invocations to one worker and hands out their outcomes."""

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id
        self.indexed: asyncio.Future[tuple[wire.FunctionMetadata, ...] | AppError] = (
            asyncio.get_running_loop().create_future()
        )
        self._outgoing = asyncio.Queue[wire.HostMessage | None]()
        self._pending = dict[str, asyncio.Future[wire.Outcome]]()
        self._lost: str | None = None

    def initialize(self, app_directory: str) -> None:
        """Have the app indexed; ``indexed`` gets the answer."""
        self._outgoing.put_nowait(wire.Initialize(app_directory=app_directory))

    def invoke(self, call: wire.Invoke) -> asyncio.Future[wire.Outcome]:
        """Send ``call``; the future gets its outcome, Failed if the worker dies."""
        outcome: asyncio.Future[wire.Outcome] = asyncio.get_running_loop().create_future()
        if self._lost is not None:
            outcome.set_result(wire.Failed(message=self._lost))
            return outcome
        self._pending[call.invocation_id] = outcome
        self._outgoing.put_nowait(call)
        return outcome

    def close(self) -> None:
        """End the stream, which ends the worker."""
        self._outgoing.put_nowait(None)

    def lost(self, reason: str) -> None:
        """The worker is gone: fail everything that waits for it, now and later."""
        self._lost = reason
        for outcome in self._pending.values():
            if not outcome.done():
                outcome.set_result(wire.Failed(message=reason))
        self._pending.clear()
        self.fail_indexing(f"{reason} before the app was indexed")

    def fail_indexing(self, reason: str) -> None:
        """Give up waiting for the index; no-op when it is there."""
        self._set_indexed(AppError(reason))

    def _set_indexed(self, result: tuple[wire.FunctionMetadata, ...] | AppError) -> None:
        if not self.indexed.done():
            self.indexed.set_result(result)

    async def converse(
        self,
        incoming: AsyncIterator[wire.WorkerMessage],
        context: "grpc.aio.ServicerContext[wire.WorkerMessage, wire.HostMessage]",
    ) -> None:
        """Run until either side ends the stream."""
        tasks = {
            asyncio.create_task(self._send(context)),
            asyncio.create_task(self._receive(incoming)),
        }
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        for task in done:
            task.result()

    async def _send(self, context: "grpc.aio.ServicerContext[wire.WorkerMessage, wire.HostMessage]") -> None:
        while (message := await self._outgoing.get()) is not None:
            await context.write(message)

    async def _receive(self, incoming: AsyncIterator[wire.WorkerMessage]) -> None:
        async for message in incoming:
            self._take(message)

    def _take(self, message: wire.WorkerMessage) -> None:
        match message:
            case wire.Indexed():
                self._set_indexed(message.functions)
            case wire.IndexingFailed():
                self._set_indexed(AppError(f"{message.message}\n{message.stack_trace}".rstrip()))
            case wire.Completed():
                outcome = self._pending.pop(message.invocation_id)
                if not outcome.done():
                    outcome.set_result(message.outcome)
            case wire.Log():
                name = "Worker" if message.function is None else f"Function.{message.function}.User"
                logging.getLogger(name).log(message.level, "%s", message.text)
            case wire.Hello():
                _worker_log.warning("worker %s said hello twice", self.worker_id)
            case _:
                assert_never(message)


class WorkerStreams:
    """The gRPC method that workers open; a stream of a worker of an earlier start is refused."""

    def __init__(self) -> None:
        self._expected = dict[str, WorkerChannel]()

    def expect(self, channel: WorkerChannel) -> None:
        """Let the worker of ``channel`` connect, once."""
        self._expected[channel.worker_id] = channel

    def forget(self, channel: WorkerChannel) -> None:
        """Refuse the worker of ``channel`` from now on."""
        self._expected.pop(channel.worker_id, None)

    async def _converse(
        self,
        incoming: AsyncIterator[wire.WorkerMessage],
        context: "grpc.aio.ServicerContext[wire.WorkerMessage, wire.HostMessage]",
    ) -> None:
        match await anext(incoming, None):
            case wire.Hello(worker_id) if (channel := self._expected.pop(worker_id, None)) is not None:
                await channel.converse(incoming, context)
            case _:
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not the worker of this start")

    def handler(self) -> grpc.GenericRpcHandler:
        """The method, to be added to the host's gRPC server."""
        service, method = wire.METHOD.strip("/").split("/")
        return grpc.method_handlers_generic_handler(
            service,
            {
                method: grpc.stream_stream_rpc_method_handler(
                    self._converse,
                    request_deserializer=wire.decode_worker_message,
                    response_serializer=wire.encode,
                )
            },
        )
