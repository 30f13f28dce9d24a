"""Child processes: asked, watched, and never left behind."""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

STOP_SECONDS = 30.0
"""How long a child may take to end in order before it is killed: the stack gives its parts 25 s."""

CTRL_C_SECONDS = 10.0
"""How long a child that answers Ctrl-C by itself may take, before it is asked to end."""


class TaskError(Exception):
    """The command cannot go on; the message says why and what to do."""


class Answer(NamedTuple):
    """What a finished program said."""

    code: int
    out: str
    err: str


def say(text: str = "") -> None:
    """Print at once, so that the lines keep their place between those of child processes."""
    print(text, flush=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of child processes, without what would lead a venv's Python or pip elsewhere."""
    elsewhere = {"PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX"}
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    return {**kept, "PIP_USER": "0", "PYTHONUTF8": "1", **(extra or {})}


def ask(command: Sequence[str]) -> Answer:
    """Run a short program. One that cannot be started, or hangs, is an answer too (code 127)."""
    try:
        done = subprocess.run(  # noqa: S603 - our own commands, no shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
            env=environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer(127, "", str(error))
    return Answer(done.returncode, done.stdout.strip(), done.stderr.strip())


@contextlib.contextmanager
def child(
    command: Sequence[str],
    cwd: Path,
    *,
    output: IO[bytes] | None = None,
    extra: Mapping[str, str] | None = None,
    answers_ctrl_c: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command while the block runs; if it still runs when the block ends, stop it.

    Args:
        command: program and arguments.
        cwd: its working directory.
        output: where its standard output and error go; without it, where ours go.
        extra: further environment variables.
        answers_ctrl_c: it ends by itself on the terminal's Ctrl-C, and a second signal would disturb it
            (pytest): leave it some time.

    Raises:
        TaskError: the program cannot be started.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - our own commands, no shell
            command,
            cwd=str(cwd),
            env=environment(extra),
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            creationflags=_creation_flags(answers_ctrl_c=answers_ctrl_c),
        )
    except OSError as error:
        raise TaskError(f"{command[0]} cannot be started: {error}") from error
    try:
        yield process
    except KeyboardInterrupt:
        ended(process, CTRL_C_SECONDS if answers_ctrl_c else 0)
        raise
    finally:
        if process.poll() is None:
            stop(process)


def ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait at most so long; say whether the process has ended."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and kill it if it does not, or if Ctrl-C comes again meanwhile."""
    try:
        if sys.platform == "win32":  # no SIGTERM there: terminate() would kill it, and its children would stay
            process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            process.send_signal(signal.SIGTERM)
        if ended(process, STOP_SECONDS):
            return
        say(f"Process {process.pid} did not end within {STOP_SECONDS} s; killing it.")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _creation_flags(*, answers_ctrl_c: bool) -> int:
    # On Windows CTRL_BREAK_EVENT reaches process groups only, and a new group no longer hears Ctrl-C.
    if sys.platform == "win32" and not answers_ctrl_c:
        return subprocess.CREATE_NEW_PROCESS_GROUP
    return 0


def run_to_end(command: Sequence[str], cwd: Path, extra: Mapping[str, str] | None = None) -> int:
    """Run a command in our terminal and return its exit code."""
    with child(command, cwd, extra=extra, answers_ctrl_c=True) as process:
        return process.wait()


def run_with_progress(title: str, command: Sequence[str], cwd: Path, log: Path) -> None:
    """Run a long command with a sign of life. Its output goes to the log, whose end is shown on failure.

    Raises:
        TaskError: the command failed.
    """
    terminal = sys.stdout.isatty()
    started = time.monotonic()
    say(f"{title} ...")
    with log.open("wb") as sink, child(command, cwd, output=sink) as process:
        while not ended(process, seconds=1 if terminal else 5):
            text = f"  {time.monotonic() - started:.0f} s  {''.join(last_lines(log, 1)).strip()}"[:100]
            print(f"\r{text:100}" if terminal else text, end="" if terminal else "\n", flush=True)
    seconds = f"{time.monotonic() - started:.0f} s"
    if process.returncode != 0:
        end = "\n".join(last_lines(log, 15))
        raise TaskError(f"{title}: failed after {seconds}. The end of {log}:\n{end}")
    say(f"\r{f'  done in {seconds}':100}".rstrip() if terminal else f"  done in {seconds}")


def last_lines(log: Path, count: int) -> list[str]:
    """Return the end of a log that may be missing or still be written."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    except FileNotFoundError:
        return []
