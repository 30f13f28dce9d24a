"""docs/build-a-consumer.md as its reader follows it: an empty function app with `shared/` and the guide's files."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.cosmos import ContainerProxy, CosmosClient

from tests.running_stack import Stack, running_stack

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "build-a-consumer.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```[a-z]+ (\S+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("my-app")
    shutil.copytree(ROOT / "shared", made / "shared", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "host.json", made)
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def stack(app: Path) -> Iterator[Stack]:
    with running_stack(app) as running:
        yield running


@pytest.fixture(scope="module")
def loyalty(stack: Stack) -> Iterator[ContainerProxy]:
    with CosmosClient.from_connection_string(stack.env["CosmosConnection"]) as client:
        yield client.get_database_client("ordering").get_container_client("loyalty")


def run(app: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """Run Python in the app's folder, with nothing of this repository on its path."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *arguments]
    done = subprocess.run(  # noqa: S603 - our own interpreter
        command, cwd=app, env=clean | (env or {}), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_guide_has_every_file_that_it_lists() -> None:
    assert set(FILES) == {
        "infra/topology.json",
        "loyalty.py",
        "function_app.py",
        "test_loyalty.py",
        "send_grant.py",
    }


def test_the_proof_holds(app: Path) -> None:
    said = run(app, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "test_loyalty.py")
    assert said.splitlines()[-1].startswith("2 passed"), said


def test_the_types_hold(app: Path) -> None:
    options = ("--strict", "--follow-imports=silent", "--untyped-calls-exclude=azure", "--no-incremental")
    run(app, "-m", "mypy", *options, *(name for name in FILES if name.endswith(".py")))


def test_one_grant_is_stored_and_logged_as_the_guide_says(app: Path, stack: Stack, loyalty: ContainerProxy) -> None:
    for _ in range(2):  # the second is dropped by the broker
        run(app, "send_grant.py", env=stack.env)
    stack.wait_for_dispositions(1)
    stored = {item["id"]: item for item in loyalty.query_items("SELECT * FROM c", partition_key="c1")}
    assert sorted(stored) == ["c1", "op:g1", "out:1"]
    assert stored["c1"]["total"] == 5
    assert stored["op:g1"]["payload"] == {
        "type": "PointsGranted", "schemaVersion": 1, "grantId": "g1", "customerId": "c1", "points": 5,
    }  # fmt: skip
    assert stored["out:1"]["destination"] == "loyalty-events"
    assert stored["out:1"]["message"]["body"]["data"] == {"customerId": "c1", "points": 5}
    for row, own in (("c1", {"customerId", "total"}), ("op:g1", {"customerId"}), ("out:1", {"customerId"})):
        assert _fields_of_table_row(row) == {name for name in stored[row] if name[0] != "_"} - {"id"} - own
    # And the log line, as the guide shows it.
    (shown,) = re.findall(r"^disposition=.*$", GUIDE, re.MULTILINE)
    (line,) = stack.dispositions()
    assert re.search(re.escape(shown).replace(re.escape("..."), "[0-9a-f]{16}"), line), line


def _fields_of_table_row(document_id: str) -> set[str]:
    """The engine's fields of a document, as the guide's table lists them; `type` and `docVersion` are on all."""
    (cells,) = re.findall(rf"^\| `{re.escape(document_id)}` \|.*?\|(.*)\|$", GUIDE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", cells)) | {"type", "docVersion"}
