"""What the worker's process prints, onto the host's console.

The pipes are the host's own, not the process object's: asyncio holds back the end of a process until its
pipes are closed, and what the worker started may keep them open.
"""

import asyncio
import logging
import os
from typing import Final

_LINE_BYTES_MAX: Final = 1 << 20
_LAST_LINES_SECONDS_MAX: Final = 0.2
# Source: measured on Azure Functions host 4.1037, where print() in a function goes to this category.
_console = logging.getLogger("Host.Function.Console")


class OutputPipe:
    """A pipe whose write end the worker gets, and whose lines are logged at ``level``."""

    def __init__(self, level: int) -> None:
        self._level = level
        self._read_end, self.write_end = os.pipe()
        self._lines: asyncio.Task[None] | None = None

    def forward(self) -> None:
        """Log lines from now on; the write end is the worker's alone."""
        os.close(self.write_end)
        self._lines = asyncio.create_task(self._log_lines())

    async def close(self) -> None:
        """Log what is left, for a moment, and close the pipe."""
        if self._lines is not None:
            await asyncio.wait([self._lines], timeout=_LAST_LINES_SECONDS_MAX)
            self._lines.cancel()

    def discard(self) -> None:
        """Close both ends: no worker was started."""
        os.close(self._read_end)
        os.close(self.write_end)

    async def _log_lines(self) -> None:
        reader = asyncio.StreamReader(limit=_LINE_BYTES_MAX)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._read_end, "rb", buffering=0)
        )
        try:
            while line := await _line(reader):
                _console.log(self._level, "%s", line.decode(errors="replace").rstrip())
        finally:
            transport.close()


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        return b"(a line of more than %d bytes was dropped)" % _LINE_BYTES_MAX
