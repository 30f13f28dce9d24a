import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from devsetup import python313
from devsetup.processes import Answer, TaskError, ask

ABSENT = Answer(127, "", "[Errno 2] No such file or directory")
SHIM = Answer(
    127, "", "pyenv: python3.13: command not found\n\nThe `python3.13' command exists in these Python versions:\n"
)
NO_ENSUREPIP = Answer(
    1,
    "3.13",
    "Traceback (most recent call last):\n  File ...\nModuleNotFoundError: No module named 'ensurepip'",
)


class Machine:
    """Programs by name; any other is absent."""

    def __init__(self, **programs: Answer) -> None:
        self.programs = programs
        self.asked: list[str] = []

    def ask(self, command: Sequence[str]) -> Answer:
        self.asked.append(" ".join(command[:1]))
        return self.programs.get(command[0], ABSENT)


def runs(version: str, path: str) -> Answer:
    return Answer(0, f"{version}\n{path}", "")


def test_a_failing_shim_is_passed_over() -> None:
    machine = Machine(shim=SHIM, real=runs("3.13", "/opt/python3.13"))
    assert python313.find([["shim"], ["real"]], machine.ask) == "/opt/python3.13"


def test_another_version_is_passed_over_whatever_its_name() -> None:
    machine = Machine(older=runs("3.12", "/a"), newer=runs("3.14", "/b"), right=runs("3.13", "/c"))
    assert python313.find([["older"], ["newer"], ["right"]], machine.ask) == "/c"


def test_one_that_cannot_make_a_venv_is_passed_over() -> None:
    machine = Machine(bare=NO_ENSUREPIP, whole=runs("3.13", "/c"))
    assert python313.find([["bare"], ["whole"]], machine.ask) == "/c"


def test_the_search_stops_at_the_first_that_will_do() -> None:
    machine = Machine(first=runs("3.13", "/a"), second=runs("3.13", "/b"))
    assert python313.find([["first"], ["second"]], machine.ask) == "/a"
    assert machine.asked == ["first"]


def test_without_any_the_message_says_what_was_tried_and_the_fix() -> None:
    machine = Machine(shim=SHIM, old=runs("3.11", "/a"), bare=NO_ENSUREPIP)
    with pytest.raises(TaskError) as caught:
        python313.find([["shim"], ["old"], ["bare"], ["gone", "-3.13"]], machine.ask)
    message = str(caught.value)
    for wording in (
        "shim: does not run (exit code 127): pyenv: python3.13: command not found",
        "old: is Python 3.11",
        "bare: does not run (exit code 1): ModuleNotFoundError: No module named 'ensurepip'",
        "gone -3.13: does not run (exit code 127): [Errno 2]",
        "uv python install 3.13",
        "https://www.python.org/downloads/",
        "pyenv install 3.13",
        "apt-get install python3.13 python3.13-venv",
    ):
        assert wording in message


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="PATH programs have other names there")
def test_candidates_are_the_running_one_then_uv_then_path_then_pyenv(tmp_path: Path) -> None:
    first, second = (executable(tmp_path / name / "python3.13") for name in ("shims", "bin"))
    older = executable(tmp_path / ".pyenv/versions/3.13.0/bin/python")
    newer = executable(tmp_path / ".pyenv/versions/3.13.5/bin/python")
    executable(tmp_path / ".pyenv/versions/3.12.1/bin/python")
    machine = Machine(uv=Answer(0, "/uv/python3.13", ""))
    folders = [str(tmp_path / name) for name in ("shims", "empty", "bin")]
    found = list(python313.candidates(machine.ask, folders, tmp_path))
    assert found == [[sys.executable], ["/uv/python3.13"], [first], [second], [newer], [older]]


def test_a_machine_without_uv_has_the_other_candidates(tmp_path: Path) -> None:
    found = list(python313.candidates(Machine().ask, [], tmp_path))
    assert [sys.executable] in found
    assert not any("uv" in command for command in found)


def test_the_probe_names_the_python_behind_this_venv() -> None:
    found = python313.find([[sys.executable]], ask)
    assert Path(found).exists()
    assert not Path(found).is_relative_to(sys.prefix)
