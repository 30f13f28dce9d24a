import subprocess
import sys
from pathlib import Path

import pytest

from devsetup import locks
from devsetup.locks import locked

ROOT = Path(__file__).parents[2]
HOLD = """
import sys
from pathlib import Path
from devsetup.locks import locked
with locked(Path(sys.argv[1]), "busy"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def hold(path: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", HOLD, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_killed_holder_frees_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "state" / "lock"
    monkeypatch.setattr(locks, "say", pytest.fail)
    with hold(lock) as holder:
        holder.kill()
    with locked(lock, "waiting"):
        pass


def test_who_waits_says_so_and_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock"
    said: list[str] = []
    with hold(lock) as holder:

        def say(text: str) -> None:
            said.append(text)
            assert holder.stdin is not None
            holder.stdin.close()

        monkeypatch.setattr(locks, "say", say)
        with locked(lock, "waiting"):
            assert holder.wait(timeout=10) == 0
    assert said == ["waiting"]
