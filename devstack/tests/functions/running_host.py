"""Start the Functions host as a process of its own and talk to it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

KEY: Final = "the-key"
HOST_JSON: Final[Mapping[str, object]] = {"version": "2.0"}
READY_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def write_app(directory: Path, function_app: str, host_json: Mapping[str, object] = HOST_JSON) -> Path:
    """Write a function app of one file."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "function_app.py").write_text(function_app)
    (directory / "host.json").write_text(json.dumps(host_json))
    return directory


def command(app: Path, *options: str) -> list[str]:
    """The command line of the host."""
    return [sys.executable, "-m", "devstack.functions", "--app", str(app), "--key", KEY, *options]


def until[T](condition: Callable[[], T | None], what: str, seconds: float = 20.0) -> T:
    """Poll until ``condition`` gives something true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


@dataclass
class RunningHost:
    """A host process; ``log`` is its standard error."""

    process: subprocess.Popen[str]
    log_path: Path
    port: int = 0
    functions: list[str] = field(default_factory=list)
    control: str = ""

    @classmethod
    def start(cls, app: Path, log_path: Path, settings: Mapping[str, str], *options: str) -> "RunningHost":
        """Start the host and wait until it is ready."""
        with log_path.open("w") as log:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command(app, *options), env=os.environ | settings, stdout=subprocess.PIPE, stderr=log, text=True
            )
        host = cls(process, log_path)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, host.log
        ready = json.loads(line)
        assert ready["ready"] is True
        assert ready["url"] == f"http://127.0.0.1:{ready['port']}"
        assert ready["key"] == KEY
        host.port, host.functions, host.control = ready["port"], ready["functions"], ready.get("control", "")
        return host

    @property
    def log(self) -> str:
        """What the host has written so far."""
        return self.log_path.read_text()

    def wait_for_log(self, text: str, times: int = 1) -> None:
        """Wait until ``text`` stands in the log ``times`` times."""
        until(lambda: self.log.count(text) >= times, f"{text!r} {times} times in:\n{self.log}")

    def request(
        self,
        method: str,
        path: str,
        *,
        key: str | None = KEY,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 30.0,
    ) -> Answer:
        """Send one request."""
        sent = dict(headers or {}) | ({} if key is None else {"x-functions-key": key})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_seconds)
        try:
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def worker_pid(self) -> int:
        """The process id that the app's ``GET api/pid`` answers."""
        return int(self.request("GET", "/api/pid").body)

    def stop(self) -> int:
        """Stop the host and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def discard(self) -> None:
        """End the process whatever its state."""
        self.process.kill()
        self.process.wait(timeout=10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but is not waited for does not."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc").is_dir() or is_alive(pid)
    return stat.rpartition(")")[2].split()[0] != "Z"
