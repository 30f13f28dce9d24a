"""The worker's operating-system process."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from devstack.functions import worker
from devstack.functions.supervisor.output import OutputPipe

_ENTRY: Final = Path(worker.__file__).with_name("__main__.py")
_MESSAGE_LENGTH_MAX: Final = 2147483647


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

    def __init__(self, process: asyncio.subprocess.Process, outputs: Sequence[OutputPipe]) -> None:
        self._process = process
        self._outputs = outputs
        self._exited: Final = asyncio.create_task(self._wait())

    @classmethod
    async def spawn(cls, *, port: int, worker_id: str, app: Path, environment: Mapping[str, str]) -> "WorkerProcess":
        """Start the worker in the app's directory.

        Raises:
            OSError: the interpreter or the directory is not there.
        """
        outputs = (OutputPipe(logging.INFO), OutputPipe(logging.ERROR))
        try:
            process = await asyncio.create_subprocess_exec(
                *_command(port, worker_id),
                cwd=app,
                env={"PYTHON_THREADPOOL_THREAD_COUNT": "1000"} | dict(environment),
                stdin=asyncio.subprocess.PIPE,  # its end tells the worker that the host is dead
                stdout=outputs[0].write_end,
                stderr=outputs[1].write_end,
                process_group=0,
            )
        except BaseException:
            for output in outputs:
                output.discard()
            raise
        return cls(process, outputs)

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self._process.pid

    async def exited(self) -> int:
        """Wait for the end of the process, and return its exit code (negative: the signal's number)."""
        return await asyncio.shield(self._exited)

    def kill(self) -> None:
        """Kill the worker and all that it started; no-op when they are gone."""
        if not self._exited.done():  # afterwards the id may be another group's
            self._kill_group()

    async def _wait(self) -> int:
        for output in self._outputs:
            output.forward()
        code = await self._process.wait()
        # What it started may outlive it; what left the group is out of reach.
        self._kill_group()
        await asyncio.gather(*(output.close() for output in self._outputs))
        return code

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
