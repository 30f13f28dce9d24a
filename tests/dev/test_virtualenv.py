import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from devsetup import python313, virtualenv
from devsetup.processes import Answer, TaskError, ask


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    files = {
        "constraints.txt": "a==1\n",
        "requirements.txt": "# the app\n-c constraints.txt\na  # why\n",
        "requirements-local.txt": "-c constraints.txt\n-r requirements.txt   # all of the app\nb==2\n",
        "requirements-dev.txt": "-r requirements-local.txt\nc==3\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_hashes_cover_every_file_that_is_named(clone: Path) -> None:
    local = virtualenv.requirement_hashes(clone, "requirements-local.txt")
    names = ("requirements-local.txt", "requirements.txt", "constraints.txt")
    assert local == {name: sha256(clone / name) for name in names}


def test_a_missing_or_torn_stamp_says_nothing(tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    assert virtualenv.stamped_hashes(stamp) == {}
    for content in ('{"requirements', "[]", "\x00"):
        stamp.write_text(content, encoding="utf-8")
        assert virtualenv.stamped_hashes(stamp) == {}


@pytest.mark.parametrize(
    ("answer", "sound"),
    [
        (Answer(0, "True", ""), True),
        (Answer(0, "False", ""), False),
        (Answer(1, "", "ModuleNotFoundError: No module named 'pip'"), False),
        (Answer(127, "", "No such file or directory"), False),
    ],
)
def test_a_venv_is_sound_when_it_says_so_itself(answer: Answer, sound: bool) -> None:
    assert virtualenv.is_sound(Path("python"), lambda _: answer) is sound


def test_this_venv_is_sound_and_the_python_behind_it_is_no_venv() -> None:
    assert virtualenv.is_sound(Path(sys.executable), ask)
    assert not virtualenv.is_sound(Path(sys._base_executable), ask)  # type: ignore[attr-defined]


class Installer:
    """Stands where pip, venv and the venv's Python are; records what was run."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        self.sound = False
        self.fails = False
        self.commands: list[str] = []

    def run(self, _title: str, command: Sequence[str], _cwd: Path, _log: Path) -> None:
        self.commands.append("venv" if "venv" in command else command[-1])
        if self.fails:
            raise TaskError("pip: failed")
        if "venv" in command:
            (self.clone / ".venv").mkdir()
            self.sound = True

    def ask(self, _command: Sequence[str]) -> Answer:
        return Answer(0, str(self.sound), "")


@pytest.fixture
def installer(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    standing_in = Installer(clone)
    monkeypatch.setattr(virtualenv, "run_with_progress", standing_in.run)
    monkeypatch.setattr(virtualenv, "ask", standing_in.ask)
    monkeypatch.setattr(python313, "find_here", lambda _ask: "/opt/python3.13")
    return standing_in


@pytest.fixture
def prepare(clone: Path) -> Callable[[str], Path]:
    return lambda requirements: virtualenv.prepare(clone, clone / ".devstack", requirements)


def test_installs_once(installer: Installer, prepare: Callable[[str], Path]) -> None:
    prepare("requirements-local.txt")
    prepare("requirements-local.txt")
    assert installer.commands == ["venv", "requirements-local.txt"]


def test_a_development_install_satisfies_the_local_stack(installer: Installer, prepare: Callable[[str], Path]) -> None:
    prepare("requirements-local.txt")
    prepare("requirements-dev.txt")
    prepare("requirements-local.txt")
    assert installer.commands == ["venv", "requirements-local.txt", "requirements-dev.txt"]


@pytest.mark.parametrize("name", ["requirements-local.txt", "requirements.txt", "constraints.txt"])
def test_a_changed_file_is_installed_again(
    clone: Path, installer: Installer, prepare: Callable[[str], Path], name: str
) -> None:
    prepare("requirements-dev.txt")
    with (clone / name).open("a", encoding="utf-8") as file:
        file.write("d==4\n")
    prepare("requirements-local.txt")
    assert installer.commands == ["venv", "requirements-dev.txt", "requirements-local.txt"]


def test_a_failed_install_is_repeated(clone: Path, installer: Installer, prepare: Callable[[str], Path]) -> None:
    prepare("requirements-local.txt")
    (clone / "constraints.txt").write_text("a==2\n", encoding="utf-8")
    installer.fails = True
    with pytest.raises(TaskError):
        prepare("requirements-local.txt")
    (clone / "constraints.txt").write_text("a==1\n", encoding="utf-8")
    installer.fails = False
    prepare("requirements-local.txt")
    assert installer.commands == ["venv", *["requirements-local.txt"] * 3]


def test_a_broken_venv_is_made_anew(
    clone: Path, installer: Installer, prepare: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    prepare("requirements-local.txt")
    (clone / ".venv" / "leftover").touch()
    installer.sound = False
    prepare("requirements-local.txt")
    assert installer.commands == ["venv", "requirements-local.txt"] * 2
    assert not (clone / ".venv" / "leftover").exists()
    assert "Removing .venv" in capsys.readouterr().out


def test_the_stamp_names_what_is_installed(clone: Path, installer: Installer, prepare: Callable[[str], Path]) -> None:
    prepare("requirements-dev.txt")
    stamp = json.loads((clone / ".venv" / "installed-requirements.json").read_text(encoding="utf-8"))
    assert stamp["requirements-dev.txt"] == sha256(clone / "requirements-dev.txt")
    assert len(stamp) == 4
    assert installer.sound
