"""The stack as a user runs it: three real child processes."""

import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devstack.tests.functions.running_host import is_alive, until

APP = """
import os

import azure.functions as func

app = func.FunctionApp()


@app.route(route="settings")
async def settings(req: func.HttpRequest) -> str:
    return os.environ["ServiceBusConnection"] + " " + os.environ["CosmosConnection"]


@app.route(route="pid")
async def pid(req: func.HttpRequest) -> str:
    return str(os.getpid())
"""
TOPOLOGY = {
    "serviceBus": {
        "queues": {
            "orders": {
                "requiresSession": True,
                "requiresDuplicateDetection": False,
                "lockDuration": "PT1M",
                "maxDeliveryCount": 10,
                "deadLetteringOnMessageExpiration": True,
                "maxMessageBytes": 262144,
            }
        }
    },
    "cosmos": {
        "database": "ordering",
        "containers": {
            "orders": {
                "partitionKey": "/orderId",
                "partitionKeyVersion": 2,
                "defaultTtl": -1,
                "indexing": {"included": [], "excluded": ["/*"]},
            }
        },
    },
}


@dataclass(frozen=True)
class Stack:
    """A running stack."""

    process: subprocess.Popen[str]
    app: Path

    @property
    def env_path(self) -> Path:
        """The file that is there while the stack is ready."""
        return self.app / ".devstack" / "env"

    def env(self) -> dict[str, str]:
        """What the env file says, once it is there."""
        path = self.env_path
        until(lambda: path.exists() or self.process.poll() is not None, "the env file or the end", 60)
        assert path.exists(), self.process.stderr
        return dict(word.split("=", 1) for word in shlex.split(path.read_text()))

    def get(self, path: str) -> tuple[int, str]:
        """GET from the app."""
        env = self.env()
        connection = http.client.HTTPConnection(urlsplit(env["FUNCTIONS_URL"]).netloc, timeout=30)
        try:
            connection.request("GET", path, headers={"x-functions-key": env["FUNCTIONS_KEY"]})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def family(self) -> list[int]:
        """Process ids of all descendants."""
        found, parents = list[int](), [self.process.pid]
        while parents:
            parent = parents.pop()
            for task in Path(f"/proc/{parent}/task").glob("*/children"):
                children = [int(pid) for pid in task.read_text().split()]
                found += children
                parents += children
        return found

    def end(self, number: signal.Signals) -> int:
        """Signal the stack and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=40)


type StartStack = Callable[..., Stack]


@pytest.fixture
def start_stack(tmp_path: Path) -> Iterator[StartStack]:
    """Start stacks, each in a clone of its own."""
    started: list[Stack] = []

    def start(name: str = "clone", *options: str, files: Mapping[str, str] | None = None) -> Stack:
        app = tmp_path / name
        (app / "infra").mkdir(parents=True, exist_ok=True)
        contents = {
            "function_app.py": APP,
            "host.json": '{"version": "2.0"}',
            "infra/topology.json": json.dumps(TOPOLOGY),
        }
        for path, content in (contents | dict(files or {})).items():
            (app / path).write_text(content)
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "devstack", "--app", str(app), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(Stack(process, app))
        return started[-1]

    yield start
    for stack in started:
        stack.process.kill()
        stack.process.communicate()


def test_serve_and_stop(start_stack: StartStack) -> None:
    stack = start_stack()
    env = stack.env()
    assert list(env) == ["ServiceBusConnection", "CosmosConnection", "FUNCTIONS_URL", "FUNCTIONS_KEY"]
    assert stack.get("/api/settings") == (200, f"{env['ServiceBusConnection']} {env['CosmosConnection']}")
    family = stack.family()
    assert len(family) == 4  # two emulators, the host, its worker
    assert stack.end(signal.SIGINT) == 0
    assert not stack.env_path.exists()
    assert not [pid for pid in family if is_alive(pid)]
    for name in ("servicebus", "cosmos", "functions"):
        assert (stack.app / ".devstack" / f"{name}.log").exists()


def test_a_second_start_names_the_first_and_another_clone_is_free(start_stack: StartStack) -> None:
    first, other = start_stack(), start_stack("other-clone")
    urls = {first.env()["FUNCTIONS_URL"], other.env()["FUNCTIONS_URL"]}
    assert len(urls) == 2
    second = start_stack()
    _, text = second.process.communicate(timeout=20)
    assert second.process.returncode == 1
    assert text.startswith("devstack: a local stack runs in ")
    assert f"(pid {first.process.pid})" in text
    assert first.get("/api/pid")[0] == 200


def test_a_killed_stack_leaves_nobody_behind_and_can_start_again(start_stack: StartStack) -> None:
    stack = start_stack()
    old = stack.env()
    family = stack.family()
    stack.process.kill()
    until(lambda: not [pid for pid in family if is_alive(pid)], "end of all children", 30)
    again = start_stack()
    until(lambda: again.env_path.exists() and again.env() != old, "ready again", 60)
    assert again.get("/api/pid")[0] == 200
    assert again.end(signal.SIGTERM) == 0


def test_a_child_that_dies_ends_the_stack_and_is_named(start_stack: StartStack) -> None:
    stack = start_stack()
    stack.env()
    family = stack.family()
    os.kill(family[0], signal.SIGKILL)
    _, text = stack.process.communicate(timeout=40)
    assert stack.process.returncode == 1
    assert text.startswith("devstack: servicebus ended with exit code -9")
    assert not [pid for pid in family if is_alive(pid)]
    assert not stack.env_path.exists()


def test_a_host_that_ends_with_zero_is_started_again_at_its_address(start_stack: StartStack) -> None:
    stack = start_stack()
    env = stack.env()
    _, worker = stack.get("/api/pid")
    # What a recycled host does, without the three crashes.
    os.kill(parent_of(int(worker)), signal.SIGTERM)
    until(lambda: new_worker(stack, worker), "an answer of the new host")
    assert stack.env() == env
    assert stack.end(signal.SIGTERM) == 0


def test_an_app_that_cannot_start_ends_the_stack(start_stack: StartStack) -> None:
    stack = start_stack(files={"function_app.py": "raise RuntimeError('no luck')"})
    _, text = stack.process.communicate(timeout=60)
    assert stack.process.returncode == 1
    assert text.startswith("devstack: functions ended with exit code 1; the end of ")
    assert "RuntimeError: no luck" in text


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def new_worker(stack: Stack, old: str) -> str | None:
    """The process id of a worker other than ``old``, None while nobody answers."""
    try:
        status, worker = stack.get("/api/pid")
    except OSError:
        return None
    return worker if status == 200 and worker != old else None
