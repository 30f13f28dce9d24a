"""What cannot be served ends the host with exit code 1 and a text that says what to mend."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from devstack.tests.functions.running_host import command, write_app

ONE_FUNCTION = """
import azure.functions as func

app = func.FunctionApp()


@app.route(route="x")
async def x(req: func.HttpRequest) -> str:
    return "x"
"""


def failure(app: Path) -> str:
    ended = subprocess.run(command(app), capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    assert ended.returncode == 1
    assert ended.stdout == ""
    return ended.stderr


@pytest.mark.parametrize(
    ("function_app", "named"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError"),
        ("raise RuntimeError('no setting X')", 'function_app.py", line 1'),
        ("import sys; sys.exit(3)", "the worker process exited with code 3 before the app was indexed"),
        ("import os; os._exit(0)", "the worker process exited with code 0 before the app was indexed"),
        ("import azure.functions as f\napp = f.FunctionApp()", "registers no function"),
        (ONE_FUNCTION.replace('route="x"', 'route="a/{b:int}"'), "function x: route 'a/{b:int}'"),
    ],
)
def test_an_app_that_cannot_be_indexed(tmp_path: Path, function_app: str, named: str) -> None:
    assert named in failure(write_app(tmp_path, function_app))


def test_a_missing_app(tmp_path: Path) -> None:
    write_app(tmp_path, "")
    (tmp_path / "function_app.py").unlink()
    assert "function_app.py: the file is missing or registers no function" in failure(tmp_path)


@pytest.mark.parametrize(
    ("host_json", "named"),
    [
        ({"version": "2.0", "functionTimeout": "soon"}, "host.json: functionTimeout: must be a time span"),
        ({}, 'host.json: version: must be "2.0"'),
    ],
)
def test_a_bad_host_json(tmp_path: Path, host_json: Mapping[str, object], named: str) -> None:
    text = failure(write_app(tmp_path, ONE_FUNCTION, host_json))
    assert text.startswith("devstack.functions: ")
    assert named in text
    assert "Traceback" not in text


def test_the_app_finds_its_own_packages_alone(tmp_path: Path) -> None:
    # The repository that holds this host has packages of these names; they must not help the app.
    app = write_app(tmp_path, "import shared.idempotency")
    assert "No module named 'shared'" in failure(app)
