"""A lock between processes of one clone."""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from devsetup.processes import say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO


@contextlib.contextmanager
def locked(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock file. The system frees the lock when this process ends, however it ends.

    Args:
        path: the lock file; it stays (removing it would let two holders lock two files of one name).
        busy: what to say if another process holds the lock, before waiting for it as long as that takes.
    """
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        if not take(file):
            say(busy)
            while not take(file):
                time.sleep(0.2)
        yield


def take(file: IO[str]) -> bool:
    """Try to lock an open file; the lock falls when the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt  # exists on Windows alone

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # does not exist on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
