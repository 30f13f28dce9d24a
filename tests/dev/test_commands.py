"""dev.py's commands: what they run, what they answer, what they say comes next."""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import dev
from devsetup import virtualenv

ROOT = Path(__file__).parents[2]
PYTHON = Path("/venv/python")


class Runs:
    """Records the commands that dev.py delegates to; each ends with the next of the exit codes, or with 0."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.codes: list[int] = []
        self.prepared: list[str] = []

    def run_to_end(self, command: Sequence[str], _cwd: Path, _extra: Mapping[str, str] | None = None) -> int:
        self.commands.append(list(command))
        return self.codes.pop(0) if self.codes else 0

    def prepare(self, _root: Path, _state: Path, requirements: str) -> Path:
        self.prepared.append(requirements)
        return PYTHON


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    recorded = Runs()
    monkeypatch.setattr(dev, "run_to_end", recorded.run_to_end)
    monkeypatch.setattr(virtualenv, "prepare", recorded.prepare)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return recorded


def test_without_arguments_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main([]) == 0
    out = capsys.readouterr().out
    for command in (
        "demo [--csv FILE]",
        "start [--servicebus-port N]",
        "test [pytest arguments | --soak MINUTES | --mutants [NAME ...]]",
        "check",
        "bench [NAME ...] [--list]",
    ):
        assert command in out
    assert out.splitlines()[-1] == "Next: python3 dev.py demo"


def test_an_unknown_command_is_named_with_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["demonstrate"]) == 2
    assert "no command 'demonstrate'" in capsys.readouterr().out


def test_all_tests_run_on_two_workers(runs: Runs) -> None:
    assert dev.main(["test"]) == 0
    assert runs.commands == [[str(PYTHON), "-m", "pytest", "-n", "2"]]
    assert runs.prepared == ["requirements-dev.txt"]


def test_pytest_gets_its_own_arguments_and_its_exit_code_comes_through(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.codes = [5]
    assert dev.main(["test", "-k", "lock", "--maxfail=1"]) == 5
    assert runs.commands == [[str(PYTHON), "-m", "pytest", "-k", "lock", "--maxfail=1"]]
    assert "Next: python3 dev.py test --last-failed" in capsys.readouterr().out


@pytest.mark.parametrize(("code", "advice"), [(0, "python3 dev.py test."), (1, "give each that is alive a test")])
def test_the_mutation_check_is_a_run_of_its_own(
    runs: Runs, capsys: pytest.CaptureFixture[str], code: int, advice: str
) -> None:
    runs.codes = [code]
    assert dev.main(["test", "--mutants", "hash-ignored"]) == code
    assert runs.commands == [[str(PYTHON), "-m", "tests.mutants", "hash-ignored"]]
    assert f"Next: {advice}" in capsys.readouterr().out


def test_benchmarks_get_their_names(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["bench", "engine", "cpu"]) == 0
    assert runs.commands == [[str(PYTHON), "-m", "bench", "engine", "cpu"]]
    assert runs.prepared == ["requirements-dev.txt"]
    assert "Next: docs/performance.md" in capsys.readouterr().out


def test_every_check_runs_though_one_fails(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    runs.codes = [1, 0, 1, 0]
    assert dev.main(["check"]) == 1
    assert len(runs.commands) == 4
    summary = capsys.readouterr().out.split("--- summary\n")[1]
    assert [line.split()[:2] for line in summary.splitlines()[:4]] == [
        ["lint", "FAILED"],
        ["format", "ok"],
        ["types", "FAILED"],
        ["imports", "ok"],
    ]


def test_checks_that_pass_lead_to_the_tests(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["check"]) == 0
    assert runs.prepared == ["requirements-dev.txt"]
    assert capsys.readouterr().out.splitlines()[-1] == "Next: python3 dev.py test."


def test_a_missing_csv_file_is_named_before_anything_starts(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["demo", "--csv", "/nowhere.csv"]) == 1
    assert "there is no file /nowhere.csv" in capsys.readouterr().out
    assert runs.prepared == []


def test_ctrl_c_ends_with_130(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(dev, "run_to_end", interrupted)
    assert dev.main(["check"]) == 130


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM there")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_dev_py_takes_its_child_along(tmp_path: Path, number: int, code: int) -> None:
    pid_file = tmp_path / "pid"
    child = (
        f"import os, pathlib, time; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); "
        "print('on', flush=True); time.sleep(60)"
    )
    program = (
        # A shell without job control starts background jobs, and so these tests, with SIGINT ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import sys, dev; from devsetup import processes, virtualenv; processes.CTRL_C_SECONDS = 0.1; "
        "virtualenv.prepare = lambda *_: sys.executable; "
        f"dev.CHECKS = (('sleep', ['-c', {child!r}]),); sys.exit(dev.main(['check']))"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:  # noqa: S603
        assert running.stdout is not None
        while running.stdout.readline() != "on\n":
            assert running.poll() is None
        running.send_signal(number)
        assert running.wait(timeout=60) == code
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text(encoding="utf-8")), 0)


BEFORE_INSTALLATION = ["dev.py", *(f"devsetup/{path.name}" for path in sorted((ROOT / "devsetup").glob("*.py")))]


@pytest.mark.parametrize("name", BEFORE_INSTALLATION)
def test_python_3_8_can_read_what_runs_before_anything_is_installed(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 8))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {(node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name) for node in imports}
    outside = {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"devsetup"}
    assert not outside
