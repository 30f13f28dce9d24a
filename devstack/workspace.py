"""The ``.devstack`` directory of a clone: one running stack, its logs, and how to reach it."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


class AlreadyRunningError(Exception):
    """A stack runs in this clone already; the text has its process id."""


class Workspace:
    """The directory, claimed by one process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def env_path(self) -> Path:
        """Shell lines ``KEY='value'``; there only while the stack is ready."""
        return self._directory / "env"

    def log_path(self, name: str) -> Path:
        """The log of one child."""
        return self._directory / f"{name}.log"

    def write_env(self, values: Mapping[str, str]) -> None:
        """Publish ``values``, readable by the user alone: they hold keys. Readers see all or nothing."""
        lines = [f"{name}={_quoted(value)}\n" for name, value in values.items()]
        draft = self._directory / "env.new"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.writelines(lines)
        draft.replace(self.env_path)


def _quoted(value: str) -> str:
    # Always quoted, unlike shlex.quote: readers that are no shell strip the quotes too.
    return "'" + value.replace("'", r"'\''") + "'"


@contextmanager
def claimed(app: Path) -> Iterator[Workspace]:
    """Hold ``app``/.devstack for this process; the system lets go of it however the process ends.

    Raises:
        AlreadyRunningError: another process holds it.
    """
    directory = app / ".devstack"
    directory.mkdir(exist_ok=True)
    with (directory / "pid").open("a+") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder.seek(0)
            raise AlreadyRunningError(
                f"a local stack runs in {app} already (pid {holder.read().strip() or 'not written yet'}); stop it, "
                "or use it by .devstack/env"
            ) from None
        holder.truncate(0)
        holder.write(f"{os.getpid()}\n")
        holder.flush()
        workspace = Workspace(directory)
        workspace.env_path.unlink(missing_ok=True)  # left behind by a stack that was killed
        try:
            yield workspace
        finally:
            workspace.env_path.unlink(missing_ok=True)
            holder.truncate(0)
