"""Find a Python 3.13 by running each candidate; a name or a place proves nothing."""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from devsetup.processes import Answer, TaskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Ask = Callable[[Sequence[str]], Answer]

NOT_FOUND = """no Python 3.13 was found. Azure Functions runs this app on 3.13; another version will not do.
Tried:
{tried}
Install one, then run the same command again:
  any system      uv python install 3.13        (uv: https://docs.astral.sh/uv)
  Windows, macOS  the 3.13 installer of https://www.python.org/downloads/
  pyenv           pyenv install 3.13
  Debian, Ubuntu  sudo apt-get install python3.13 python3.13-venv"""

# ensurepip: Debian's python3.13 lacks it without python3.13-venv, and then cannot make a venv.
# _base_executable: run from a venv, the Python behind it is wanted, because that venv may be removed.
PROBE = (
    "import sys; print('%d.%d' % sys.version_info[:2]); import ensurepip, venv; "
    "print(getattr(sys, '_base_executable', '') or sys.executable)"
)


def candidates(ask: Ask, folders: Iterable[str], home: Path) -> Iterator[list[str]]:
    """Yield the command of each Python that may be a 3.13, the nearest first.

    Args:
        ask: runs a program.
        folders: those of PATH.
        home: the user's, where pyenv keeps its versions.
    """
    yield [sys.executable]
    # --system: without it uv names this clone's own .venv, which may be the broken one.
    found = ask(["uv", "python", "find", "--system", "3.13"])
    if found.code == 0:
        yield [found.out]
    if os.name == "nt":
        yield ["py", "-3.13"]
    # Every one on PATH, not the first alone: that may be a shim which hides one that works.
    for folder in folders:
        program = shutil.which("python3.13", path=folder)
        if program:
            yield [program]
    for pattern in (".pyenv/versions/3.13*/bin/python", ".pyenv/pyenv-win/versions/3.13*/python.exe"):
        for path in sorted(home.glob(pattern), reverse=True):
            yield [str(path)]


def find(commands: Iterable[list[str]], ask: Ask) -> str:
    """Return the path of the first candidate that runs, is a Python 3.13 and can make a venv.

    Raises:
        TaskError: none does; the message lists what was tried, why it will not do, and how to install one.
    """
    tried = []
    for command in commands:
        answer = ask([*command, "-c", PROBE])
        lines = answer.out.splitlines()
        if answer.code == 0 and len(lines) == 2 and lines[0] == "3.13":
            return lines[1]
        tried.append(f"  {' '.join(command)}: {_refusal(answer)}")
    raise TaskError(NOT_FOUND.format(tried="\n".join(tried)))


def find_here(ask: Ask) -> str:
    """Find one on this machine.

    Raises:
        TaskError: as `find`.
    """
    return find(candidates(ask, os.get_exec_path(), Path.home()), ask)


def _refusal(answer: Answer) -> str:
    version = answer.out.splitlines()[:1]
    if version and version != ["3.13"]:
        return f"is Python {version[0]}"
    said = [line for line in answer.err.splitlines() if line.strip()]
    # A traceback says it in its last line, a shim in its first.
    wording = (said[-1] if said and said[0].startswith("Traceback") else (said or ["says nothing"])[0]).strip()
    return f"does not run (exit code {answer.code}): {wording}"
