"""The worker's side of the stream: index the app, run invocations, send logs and answers.

An invocation is a task; many run at once on the one event loop, as in the real worker. The process ends when
the host closes the stream, and at once when the host is dead (end of standard input).
"""

import asyncio
import logging
import os
import sys

import grpc

from devstack.functions import wire
from devstack.functions.worker import library
from devstack.functions.worker.logs import HostLogHandler, forward_to_host, running_function
from devstack.functions.worker.outbox import Outbox
from devstack.parent_watch import on_parent_end


def _exit_now(code: int) -> None:
    # No interpreter shutdown: a handler stuck in a thread would keep the process alive.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


class _Conversation:
    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._running = dict[str, str]()
        self._tasks = set[asyncio.Task[None]]()

    def function_of(self, invocation_id: str) -> str | None:
        return self._running.get(invocation_id)

    async def receive(self, message: wire.HostMessage) -> None:
        match message:
            case wire.Initialize():
                self._outbox.post(await library.index(message.app_directory))
            case wire.Invoke():
                task = asyncio.create_task(self._invoke(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _invoke(self, call: wire.Invoke) -> None:
        running_function.set(call.function_name)
        self._running[call.invocation_id] = call.function_name
        try:
            outcome = await library.invoke(call)
        except asyncio.CancelledError:
            # Nobody cancels this task: the function raised it. The host must not wait for ever.
            outcome = wire.Failed(message="CancelledError: the function cancelled itself")
        except Exception as error:  # noqa: BLE001 - such as an answer that cannot be converted; the host waits for it
            outcome = wire.Failed(message=f"{type(error).__name__}: {error}")
        except (SystemExit, KeyboardInterrupt) as end:
            _exit_now(end.code if isinstance(end, SystemExit) and isinstance(end.code, int) else 1)
            raise
        finally:
            del self._running[call.invocation_id]
        if isinstance(outcome, wire.Failed):
            outcome = wire.Failed(wire.printable(outcome.message), wire.printable(outcome.stack_trace))
        self._outbox.post(wire.Completed(invocation_id=call.invocation_id, outcome=outcome))


async def converse(target: str, worker_id: str) -> None:
    """Serve the host at ``target`` ("address:port") until it ends the stream.

    Raises:
        grpc.aio.AioRpcError: the host refused the stream (a worker of an earlier start) or is not there;
            the process then ends with a traceback.
    """
    on_parent_end(lambda: os._exit(1))
    outbox = Outbox(asyncio.get_running_loop())
    conversation = _Conversation(outbox)
    forward_to_host(HostLogHandler(outbox.post, conversation.function_of))
    async with grpc.aio.insecure_channel(target, options=wire.CHANNEL_OPTIONS) as channel:
        stream = channel.stream_stream(
            wire.METHOD, request_serializer=wire.encode, response_deserializer=wire.decode_host_message
        )()
        outbox.post(wire.Hello(worker_id=worker_id))
        sender = asyncio.create_task(_send(stream, outbox))
        while (message := await stream.read()) is not grpc.aio.EOF:
            await conversation.receive(message)
        sender.cancel()
    logging.shutdown()
    _exit_now(0)


async def _send(stream: grpc.aio.StreamStreamCall, outbox: Outbox) -> None:
    while True:
        await stream.write(await outbox.next())
