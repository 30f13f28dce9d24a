"""The local stack's emulators as processes of their own, to be killed, stopped in their tracks and started again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
TOPOLOGY = ROOT / "infra" / "topology.json"


@dataclass
class Emulator:
    """A running emulator.

    Attributes:
        process: the process.
        port: where it listens.
        connection_string: reaches it.
    """

    process: subprocess.Popen[str]
    port: int
    connection_string: str

    @classmethod
    def start(cls, part: str, *options: str, topology: Path = TOPOLOGY) -> Self:
        """Start `devstack.{part}` and wait until it is ready."""
        command = [sys.executable, "-m", f"devstack.{part}", "--topology", str(topology), *options]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"devstack.{part} did not start"
        ready = json.loads(line)
        return cls(process, ready["port"], ready["connectionString"])

    def kill(self) -> None:
        """End it without a word to its clients; no-op when it has ended."""
        self.process.kill()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop it in its tracks: connections stay open, nothing is answered."""
        os.kill(self.process.pid, signal.SIGSTOP)
        # The signal is on its way; what it answers until then would be answered.
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)


@contextmanager
def emulator(part: str, *options: str, topology: Path = TOPOLOGY) -> Iterator[Emulator]:
    """Run one, and end it whatever its state."""
    running = Emulator.start(part, *options, topology=topology)
    try:
        yield running
    finally:
        running.kill()
