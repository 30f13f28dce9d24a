"""`.venv`: made with a Python 3.13, filled by requirements files, trusted only when it answers."""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING

from devsetup import python313
from devsetup.locks import locked
from devsetup.processes import TaskError, ask, run_with_progress, say

if TYPE_CHECKING:
    from pathlib import Path

    from devsetup.python313 import Ask


def requirement_hashes(root: Path, name: str) -> dict[str, str]:
    """Return file name -> SHA-256 of a requirements file and of all that its -r and -c lines name."""
    content = (root / name).read_bytes()
    hashes = {name: hashlib.sha256(content).hexdigest()}
    for line in content.decode("utf-8").splitlines():
        words = line.split("#")[0].split()
        if len(words) == 2 and words[0] in ("-r", "-c"):
            hashes.update(requirement_hashes(root, words[1]))
    return hashes


def stamped_hashes(stamp: Path) -> dict[str, str]:
    """Return what the stamp says is installed; a missing or torn stamp says nothing."""
    try:
        content = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def is_sound(python: Path, ask: Ask, module: str = "sys") -> bool:
    """Say whether a venv's Python runs, is a 3.13, is a venv's, and can import a module."""
    code = f"import sys, {module}; print(sys.version_info[:2] == (3, 13) and sys.prefix != sys.base_prefix)"
    answer = ask([str(python), "-c", code])
    return answer.code == 0 and answer.out == "True"


def prepare(root: Path, state: Path, requirements: str) -> Path:
    """Leave `.venv` with everything that a requirements file names, and return its Python.

    The stamp is removed first and written last: whatever interrupts an installation, the next run repeats
    it. It names every file that was installed, so a development install also satisfies the local stack's.

    Args:
        root: the clone.
        state: a folder for the lock and the log.
        requirements: the name of the requirements file.

    Raises:
        TaskError: there is no Python 3.13, `.venv` cannot be replaced, or pip failed.
    """
    venv = root / ".venv"
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = venv / "installed-requirements.json"
    wanted = requirement_hashes(root, requirements)
    with locked(state / "venv.lock", "Another dev.py prepares .venv; waiting for it (Ctrl-C stops)."):
        if wanted.items() <= stamped_hashes(stamp).items() and is_sound(python, ask):
            return python
        if not is_sound(python, ask, module="pip._internal.cli.main"):
            _make(venv, state / "setup.log")
        if stamp.exists():
            stamp.unlink()
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar=off"]
        title = f"Installing {requirements} into .venv (the first time takes a minute)"
        run_with_progress(title, [*pip, "-r", requirements], root, state / "setup.log")
        stamp.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    return python


def _make(venv: Path, log: Path) -> None:
    base = python313.find_here(ask)
    if venv.exists() or venv.is_symlink():
        say("Removing .venv: it is broken, unfinished or of another Python version.")
        try:
            venv.unlink() if venv.is_symlink() else shutil.rmtree(str(venv))
        except OSError as error:
            fix = "Close the programs that use .venv (an editor, a running stack), then run the command again."
            raise TaskError(f".venv cannot be removed: {error}\n{fix}") from error
    run_with_progress(f"Making .venv with {base}", [base, "-m", "venv", str(venv)], venv.parent, log)
