"""Keeps one worker running, and runs invocations on it.

A worker that dies fails every invocation in flight at once, whatever its session or request; invocations
that come while no worker is ready are held. Source: measured on Azure Functions host 4.1037.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from devstack.functions import wire
from devstack.functions.supervisor.channel import AppError, WorkerChannel, WorkerStreams
from devstack.functions.supervisor.process import WorkerProcess
from devstack.functions.supervisor.restart_policy import CrashHistory, Recycle, Restart

_log = logging.getLogger("Host.Worker")
_INDEXING_SECONDS_MAX: Final = 60.0
_TIMEOUT_GRACE_SECONDS: Final = 2.0
_EXIT_SECONDS_MAX: Final = 1.0


@dataclass(frozen=True)
class _Worker:
    process: WorkerProcess
    channel: WorkerChannel


class Supervisor:
    """One worker at a time.

    ``recycled`` is done when it crashed too often; it has an exception when no process can be started.
    """

    def __init__(
        self,
        *,
        streams: WorkerStreams,
        port: int,
        app: Path,
        environment: Mapping[str, str],
        function_timeout_seconds: float | None,
    ) -> None:
        self._streams = streams
        self._port = port
        self._app = app
        self._environment = environment
        self._function_timeout_seconds = function_timeout_seconds
        self._ready: asyncio.Future[_Worker | None] = asyncio.get_running_loop().create_future()
        self._killed_for_timeout: WorkerProcess | None = None
        self._current: _Worker | None = None
        self._exits = set[asyncio.Task[None]]()
        self._watch: asyncio.Task[None] | None = None
        self.recycled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start(self) -> tuple[wire.FunctionMetadata, ...]:
        """Start the first worker and return the functions of the app.

        Raises:
            AppError: the app cannot be imported or indexed, or its import ended the process.
        """
        worker = await self._spawn()
        indexed = await worker.channel.indexed
        if isinstance(indexed, AppError):
            worker.process.kill()
            await worker.process.exited()
            raise indexed
        self._ready.set_result(worker)
        self._watch = asyncio.create_task(self._keep_running(worker))
        self._watch.add_done_callback(self._watch_ended)
        return indexed

    async def invoke(self, call: wire.Invoke) -> wire.Outcome:
        """Run ``call`` on the worker, waiting for one if need be; a dead worker or a time-out is Failed."""
        worker = await asyncio.shield(self._ready)
        if worker is None:
            return wire.Failed(message="the host is stopping")
        outcome = worker.channel.invoke(call)
        done, _ = await asyncio.wait([outcome], timeout=self._function_timeout_seconds)
        if not done:
            _log.error(
                "Timeout value of %s s exceeded by function '%s' (Id: '%s'). Initiating cancellation.",
                self._function_timeout_seconds,
                call.function_name,
                call.invocation_id,
            )
            done, _ = await asyncio.wait([outcome], timeout=_TIMEOUT_GRACE_SECONDS)
        if not done:
            self._killed_for_timeout = worker.process
            worker.process.kill()
        return await outcome

    async def stop(self) -> None:
        """End the worker; invocations in flight and those held fail."""
        if self._watch is not None:
            self._watch.cancel()
        self._give_up()
        if (worker := self._current) is not None:
            worker.channel.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(worker.process.exited(), _EXIT_SECONDS_MAX)
            worker.process.kill()
            await worker.process.exited()

    def _watch_ended(self, watch: asyncio.Task[None]) -> None:
        if not watch.cancelled() and (error := watch.exception()) is not None:
            self.recycled.set_exception(error)

    def _hold(self) -> None:
        if self._ready.done():
            self._ready = asyncio.get_running_loop().create_future()

    def _give_up(self) -> None:
        self._hold()
        self._ready.set_result(None)

    async def _spawn(self) -> _Worker:
        channel = WorkerChannel(str(uuid.uuid4()))
        self._streams.expect(channel)
        process = await WorkerProcess.spawn(
            port=self._port, worker_id=channel.worker_id, app=self._app, environment=self._environment
        )
        self._current = _Worker(process, channel)
        self._exits.add(exit_watch := asyncio.create_task(self._after_exit(self._current)))
        exit_watch.add_done_callback(self._exits.discard)
        channel.initialize(str(self._app))
        deadline = asyncio.get_running_loop().call_later(
            _INDEXING_SECONDS_MAX,
            channel.fail_indexing,
            f"the app was not indexed within {_INDEXING_SECONDS_MAX:.0f} s",
        )
        channel.indexed.add_done_callback(lambda _: deadline.cancel())
        return self._current

    async def _after_exit(self, worker: _Worker) -> None:
        code = await worker.process.exited()
        self._streams.forget(worker.channel)
        worker.channel.lost(f"the worker process exited with code {code}")

    async def _keep_running(self, worker: _Worker) -> None:
        history = CrashHistory()
        while True:
            code = await worker.process.exited()
            self._hold()
            if worker.process is not self._killed_for_timeout:
                history, step = history.after_crash(time.monotonic())
                match step:
                    case Recycle():
                        _log.error("Exceeded language worker restart retry count. Shutting down the host.")
                        self._give_up()
                        self.recycled.set_result(None)
                        return
                    case Restart(delay_seconds):
                        _log.error("Worker exited with code %s. Restarting in %.1f s.", code, delay_seconds)
                        await asyncio.sleep(delay_seconds)
                    case _:
                        assert_never(step)
            worker = await self._spawn()
            indexed = await worker.channel.indexed
            if isinstance(indexed, AppError):
                _log.error("The app cannot be indexed any more: %s", indexed)
                worker.process.kill()
            else:
                _log.info("Worker started (pid %d).", worker.process.pid)
                self._ready.set_result(worker)
