"""One child process of the stack: started, ready, stopped."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_READY_SECONDS: Final = 60.0
_LOG_LINES: Final = 20


class ChildError(Exception):
    """A child ended, or was not ready in time; the text names it and ends with its last log lines."""


class Child:
    """Runs ``devstack.<name>`` in a process group of its own, so that Ctrl-C reaches the stack alone.

    It stops by itself when the stack is killed: see ``guarded``.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process, log_path: Path) -> None:
        self.name: Final = name
        self._process: Final = process
        self._log_path: Final = log_path

    @classmethod
    async def spawn(
        cls, name: str, arguments: Sequence[str], *, log_path: Path, environment: Mapping[str, str] | None = None
    ) -> "Child":
        """Start the process; what it logs is appended to ``log_path``."""
        with log_path.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "devstack.guarded", f"devstack.{name}", *arguments),
                cwd=_REPOSITORY,
                env=dict(os.environ) | dict(environment or {}),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                process_group=0,
            )
        return cls(name, process, log_path)

    async def ready(self) -> Mapping[str, object]:
        """What the child prints when it is ready.

        Raises:
            ChildError: it ended before, or took too long.
        """
        output = self._process.stdout
        assert output is not None  # noqa: S101 - spawn() made the pipe
        try:
            line = await asyncio.wait_for(output.readline(), _READY_SECONDS)
        except TimeoutError:
            raise ChildError(self._explained(f"was not ready within {_READY_SECONDS:.0f} s")) from None
        if not line:
            await self._process.wait()
            raise self.ended()
        ready = json.loads(line)
        assert isinstance(ready, dict)  # noqa: S101 - the contract of every child
        return ready

    async def exited(self) -> int:
        """Wait for its end and return its exit code."""
        return await self._process.wait()

    def ended(self) -> ChildError:
        """The error that says how it ended."""
        return ChildError(self._explained(f"ended with exit code {self._process.returncode}"))

    async def stop(self, seconds: float) -> None:
        """Stop it cleanly within ``seconds``, or kill it; no-op when it has ended."""
        if self._process.returncode is not None:
            return
        self._process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    def _explained(self, what: str) -> str:
        lines = self._log_path.read_text(errors="replace").splitlines()[-_LOG_LINES:]
        said = "".join(f"\n  {line}" for line in lines)
        return f"{self.name} {what}; the end of {self._log_path}:{said or ' (empty)'}"
