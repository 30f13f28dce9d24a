"""The local stack as a child process: one per clone, used when it is ready, stopped with its user."""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import contextlib
import shlex
import time
from typing import TYPE_CHECKING

from devsetup.processes import TaskError, child, ended, last_lines

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

READY_SECONDS = 120
"""Longer than a slow machine needs to start three servers and to import the app."""


@contextlib.contextmanager
def running(
    python: Path, root: Path, state: Path, options: Sequence[str], *, output: Path | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """Run the stack while the block runs; yield its process and the values of its env file.

    Args:
        python: the venv's.
        root: the clone.
        state: the folder with the stack's env file and logs.
        options: of `python -m devstack`.
        output: where the stack's own output goes; without it, to our terminal.

    Raises:
        TaskError: the stack ended early (it refuses to run twice in one clone), or was not ready in time.
    """
    env_file = state / "env"
    earlier = _identity(env_file)
    with contextlib.ExitStack() as held:
        sink = held.enter_context(output.open("wb")) if output else None
        stack = held.enter_context(child([str(python), "-m", "devstack", *options], root, output=sink))
        yield stack, _await_ready(stack, env_file, earlier, output)


def _await_ready(
    stack: subprocess.Popen[bytes], env_file: Path, earlier: tuple[int, int] | None, output: Path | None
) -> dict[str, str]:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if _identity(env_file) not in (None, earlier):
            return parse_env(env_file.read_text(encoding="utf-8"))
        if ended(stack, seconds=0.1):
            said = "\n".join(last_lines(output, 15)) if output else "Its reason stands above."
            raise TaskError(
                f"the local stack ended with exit code {stack.returncode} before it was ready.\n{said}\n"
                f"More in {env_file.parent}: servicebus.log, cosmos.log, functions.log."
            )
    raise TaskError(
        f"the local stack was not ready within {READY_SECONDS} s.\n"
        f"See servicebus.log, cosmos.log and functions.log in {env_file.parent}."
    )


def _identity(env_file: Path) -> tuple[int, int] | None:
    """Tell the file of this stack from one that another stack of the clone wrote, living or killed."""
    try:
        found = env_file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def parse_env(text: str) -> dict[str, str]:
    """Read shell lines `KEY='value'` into a dictionary."""
    return dict(word.split("=", 1) for line in text.splitlines() for word in shlex.split(line))


def curl_lines(values: Mapping[str, str]) -> list[str]:
    """Return commands that place the sample order and read it back, ready to be pasted.

    They work in POSIX shells, PowerShell and cmd alike: the body comes from a file, so nothing needs quoting.
    """
    api = values["FUNCTIONS_URL"] + "/api"
    key = f'-H "x-functions-key: {values["FUNCTIONS_KEY"]}"'
    body = '-H "content-type: application/json" --data-binary "@samples/order.json"'
    return [
        f'curl -i "{api}/orders" {key} {body}',
        f'curl "{api}/orders/{SAMPLE_ORDER_ID}" {key}',
        f'curl "{api}/orders/{SAMPLE_ORDER_ID}/operations/{SAMPLE_ORDER_ID}" {key}',
        f'curl "{api}/health/ready" {key}',
    ]


SAMPLE_ORDER_ID = "web-1001"
"""The order of samples/order.json."""
