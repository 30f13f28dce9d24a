import os
import stat
import subprocess
from pathlib import Path

import pytest

from devstack.workspace import AlreadyRunningError, claimed


def test_env_lines_are_shell_lines_for_the_user_alone(tmp_path: Path) -> None:
    with claimed(tmp_path) as workspace:
        workspace.write_env({"KEY": "it's; $HOME", "OTHER": "b"})
        shell = subprocess.run(  # noqa: S603 - a fixed command
            ["sh", "-c", f'. "{workspace.env_path}"; printf %s "$KEY"'],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
        assert shell.stdout == "it's; $HOME"
        assert stat.S_IMODE(workspace.env_path.stat().st_mode) == 0o600
    assert not workspace.env_path.exists()


def test_a_stale_env_is_removed_and_a_draft_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".devstack").mkdir()
    for name in ("env", "env.new"):
        (tmp_path / ".devstack" / name).write_text("KEY='old'\n")
    with claimed(tmp_path) as workspace:
        assert not workspace.env_path.exists()
        workspace.write_env({"KEY": "new"})
        assert workspace.env_path.read_text() == "KEY='new'\n"


def test_one_stack_per_clone(tmp_path: Path) -> None:
    with claimed(tmp_path), pytest.raises(AlreadyRunningError, match=rf"\(pid {os.getpid()}\)"), claimed(tmp_path):
        pass
    with claimed(tmp_path):
        pass
