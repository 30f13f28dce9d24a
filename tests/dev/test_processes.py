import signal
import subprocess
import sys
from pathlib import Path

import pytest

from devsetup import processes
from devsetup.processes import TaskError, ask, child, environment, run_to_end, run_with_progress, stop

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_program_that_is_not_there_is_an_answer() -> None:
    answer = ask(["/nowhere/python3.13"])
    assert (answer.code, answer.out) == (127, "")
    assert "/nowhere/python3.13" in answer.err


def test_an_answer_has_code_output_and_errors() -> None:
    code = "import sys; print(' out '); print('err', file=sys.stderr); sys.exit(3)"
    assert ask(python(code)) == (3, "out", "err")


def test_children_do_not_inherit_what_leads_a_venv_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("KEPT", "yes")
    found = environment({"ADDED": "1"})
    assert not {"PYTHONHOME", "PYTHONPATH"} & found.keys()
    assert (found["PIP_USER"], found["KEPT"], found["ADDED"]) == ("0", "yes", "1")


def test_the_exit_code_comes_through(tmp_path: Path) -> None:
    assert run_to_end(python("import sys; sys.exit(7)"), tmp_path) == 7


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="/nowhere/program cannot be started"):
        run_to_end(["/nowhere/program"], tmp_path)


def test_a_child_does_not_outlive_its_block(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), child(python("import time; time.sleep(60)"), tmp_path) as process:
        raise KeyboardInterrupt
    assert process.returncode == -signal.SIGTERM


def test_a_child_that_will_not_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "STOP_SECONDS", 0.05)
    with subprocess.Popen(python(STUBBORN), stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        stop(process)
    assert process.returncode == -signal.SIGKILL
    assert f"{process.pid} did not end" in capsys.readouterr().out


def test_a_failed_long_command_shows_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import sys; [print(f'line {n}') for n in range(30)]; sys.exit('no space left')"
    with pytest.raises(TaskError) as caught:
        run_with_progress("Installing", python(code), tmp_path, log)
    message = str(caught.value)
    assert message.startswith("Installing: failed after")
    assert str(log) in message
    assert "no space left" in message
    assert "line 29" in message
    assert "line 3\n" not in message


def test_a_long_command_says_what_it_does_and_how_long_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_with_progress("Installing", python("print('Collecting a')"), tmp_path, tmp_path / "log")
    first, last = capsys.readouterr().out.splitlines()
    assert first == "Installing ..."
    assert last.startswith("  done in ")
