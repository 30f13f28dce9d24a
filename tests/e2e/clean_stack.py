"""A running stack that is held to leave nothing behind: no process, and no secret or body in a log."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.running_stack import Stack, running_stack

SECRET: Final = "Pommernkatze"  # noqa: S105 - a word to look for, no password
"""A word for bodies; no log may hold it."""

PARTS: Final = ("servicebus", "cosmos", "functions")


@contextmanager
def clean_stack(app: Path, settings: dict[str, str] | None = None, *options: str) -> Iterator[Stack]:
    """Start a stack and stop it; what it leaves behind fails the test."""
    with running_stack(app, settings, *options) as stack:
        assert len(processes_of(app)) == len(PARTS) + 2  # the stack itself, and the app's worker
        yield stack
    assert processes_of(app) == {}
    assert leaks(stack) == []


def processes_of(app: Path) -> dict[int, str]:
    """Ids and command lines of the processes that name the app's folder or run in it."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        # It ended meanwhile, or is another user's.
        with suppress(OSError):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(app) in command or (process / "cwd").readlink() == app:
                found[int(process.name)] = command
    return found


def leaks(stack: Stack) -> list[str]:
    """Where a log holds the secret word or a key."""
    words = {
        "a body": SECRET,
        "the app's key": stack.env["FUNCTIONS_KEY"],
        "the broker's key": re.findall("SharedAccessKey=([^;]+)", stack.env["ServiceBusConnection"])[0],
        "the store's key": re.findall("AccountKey=([^;]+)", stack.env["CosmosConnection"])[0],
    }
    logs = {part: stack.log(part) for part in PARTS}
    return [f"{part}: {what}" for part, text in logs.items() for what, word in words.items() if word in text]
