"""The local stack as a user starts it, for an app in any folder."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack.

    Attributes:
        app: folder of the app.
        env: what its env file says.
    """

    app: Path
    env: dict[str, str]

    def log(self, part: str = "functions") -> str:
        """What a part has logged so far: servicebus, cosmos or functions."""
        return (self.app / ".devstack" / f"{part}.log").read_text(encoding="utf-8", errors="replace")

    def ask_for(self, part: str, fault: dict[str, object], **rule: object) -> None:
        """Ask a part of a stack that was started with `--faults` for one; devstack/README.md lists them."""
        ask_for(self.env[f"{part.upper()}_CONTROL"], fault, **rule)

    def dispositions(self) -> list[str]:
        """The app's log lines of settled or retried deliveries."""
        return [line for line in self.log().splitlines() if "disposition=" in line]

    def wait_for_dispositions(self, count: int) -> None:
        """Wait until at least so many deliveries are disposed of."""
        until(lambda: len(self.dispositions()) >= count, f"{count} dispositions")


def ask_for(control: str, fault: dict[str, object], **rule: object) -> None:
    """Ask a part for a fault, at the URL of its control API."""
    body = json.dumps({"fault": fault, **rule}).encode()
    with urllib.request.urlopen(f"{control}/faults", body) as answer:  # noqa: S310 - loopback
        assert answer.status == 204


def deployed_app(to: Path) -> Path:
    """Copy what `.funcignore` lets through, and the topology, which only the stack needs."""
    lines = (ROOT / ".funcignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*patterns), dirs_exist_ok=True)
    (to / "infra").mkdir()
    shutil.copy(ROOT / "infra" / "topology.json", to / "infra")
    return to


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the stack, running alone; `ready` is what it printed when it was."""

    process: subprocess.Popen[str]
    ready: dict[str, str]


@contextmanager
def running_stack(app: Path, settings: dict[str, str] | None = None, *options: str) -> Iterator[Stack]:
    """Start a stack on free ports, wait until it is ready, stop it, and hold it to a clean end."""
    command = [sys.executable, "-m", "devstack", "--app", str(app), *options]
    env = os.environ | (settings or {})
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        path = app / ".devstack" / "env"
        try:
            until(lambda: path.exists() or process.poll() is not None, "a ready stack")
            assert path.exists(), process.stdout and process.stdout.read()
            yield Stack(app, dict(word.split("=", 1) for word in shlex.split(path.read_text(encoding="utf-8"))))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert not path.exists()


def until(is_true: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Wait for another process; fails by name when it takes too long."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


@contextmanager
def running_part(name: str, app: Path, *arguments: str, settings: dict[str, str] | None = None) -> Iterator[Part]:
    """Start one part of the stack alone: servicebus, cosmos or functions. It logs into the app's folder."""
    command = [sys.executable, "-m", f"devstack.{name}", *arguments]
    with (
        (app / f"{name}.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(  # noqa: S603 - our own interpreter
            command, cwd=ROOT, env=os.environ | (settings or {}), stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield Part(process, json.loads(process.stdout.readline()))
        finally:
            process.kill()
