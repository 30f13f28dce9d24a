"""The worker's operating-system process."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from devstack.functions import worker

_ENTRY: Final = Path(worker.__file__).with_name("__main__.py")
_MESSAGE_LENGTH_MAX: Final = 2147483647
_LINE_BYTES_MAX: Final = 1 << 20
_LAST_LINES_SECONDS_MAX: Final = 0.2
# What print() writes in a function. Source: measured on Azure Functions host 4.1037.
_console = logging.getLogger("Host.Function.Console")


def _command(port: int, worker_id: str) -> list[str]:
    # The app's settlement client finds its endpoint in these arguments.
    # Source: the command line of host 4.1037's Python worker.
    options = {
        "--host": "127.0.0.1",
        "--port": str(port),
        "--workerId": worker_id,
        "--requestId": worker_id,
        "--grpcMaxMessageLength": str(_MESSAGE_LENGTH_MAX),
        "--functions-uri": f"http://127.0.0.1:{port}/",
        "--functions-worker-id": worker_id,
        "--functions-request-id": worker_id,
        "--functions-grpc-max-message-length": str(_MESSAGE_LENGTH_MAX),
    }
    return [sys.executable, str(_ENTRY), *(part for option in options.items() for part in option)]


class WorkerProcess:
    """One start of the worker, in a process group of its own so that its children die with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._exited: Final = asyncio.create_task(self._wait())

    @classmethod
    async def spawn(
        cls, *, port: int, worker_id: str, app: Path, environment: Mapping[str, str]
    ) -> "WorkerProcess":
        """Start the worker in the app's directory.

        Raises:
            OSError: the interpreter or the directory is not there.
        """
        process = await asyncio.create_subprocess_exec(
            *_command(port, worker_id),
            cwd=app,
            env={"PYTHON_THREADPOOL_THREAD_COUNT": "1000"} | dict(environment),
            stdin=asyncio.subprocess.PIPE,  # its end tells the worker that the host is dead
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES_MAX,
            process_group=0,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self._process.pid

    async def exited(self) -> int:
        """Wait for the end of the process, and return its exit code (negative: the signal's number)."""
        return await asyncio.shield(self._exited)

    def kill(self) -> None:
        """Kill the worker and all that it started; no-op when they are gone."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    async def _wait(self) -> int:
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: S101, PT018
        pumps = asyncio.gather(
            _pump(self._process.stdout, logging.INFO), _pump(self._process.stderr, logging.ERROR)
        )
        code = await self._process.wait()
        # What it started may outlive it and hold its pipes open.
        self.kill()
        # One that left the group still holds them: nothing may wait for it.
        await asyncio.wait([pumps], timeout=_LAST_LINES_SECONDS_MAX)
        return code


async def _pump(stream: asyncio.StreamReader, level: int) -> None:
    while True:
        try:
            line = await stream.readline()
        except ValueError:
            _console.warning("a line of more than %d bytes was dropped", _LINE_BYTES_MAX)
            continue
        if not line:
            return
        _console.log(level, "%s", line.decode(errors="replace").rstrip())
