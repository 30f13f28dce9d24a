import json
import shlex
import sys
from pathlib import Path

import pytest

from devsetup import local_stack
from devsetup.processes import TaskError

ROOT = Path(__file__).parents[2]
VALUES = {"FUNCTIONS_URL": "http://127.0.0.1:7071", "FUNCTIONS_KEY": "k=="}

# A stand-in for the stack: `python -m devstack MODE` in a folder of its own.
STACK = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if "--taken" in sys.argv:
    sys.exit("port 7071 is taken; choose another with --functions-port")
state = pathlib.Path(".devstack")
(state / "new").write_text("FUNCTIONS_URL='http://127.0.0.1:1'\\n")
(state / "new").rename(state / "env")
time.sleep(60)
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "devstack").mkdir()
    (tmp_path / "devstack" / "__main__.py").write_text(STACK, encoding="utf-8")
    (tmp_path / ".devstack").mkdir()
    return tmp_path


def test_yields_the_values_when_ready_and_stops_the_stack_afterwards(clone: Path) -> None:
    state = clone / ".devstack"
    with local_stack.running(Path(sys.executable), clone, state, []) as (stack, values):
        assert values == {"FUNCTIONS_URL": "http://127.0.0.1:1"}
        assert stack.poll() is None
    assert stack.returncode == 0


def test_the_values_of_a_killed_stack_are_not_taken_for_those_of_this_one(clone: Path) -> None:
    state = clone / ".devstack"
    (state / "env").write_text("FUNCTIONS_URL='http://127.0.0.1:9'\n", encoding="utf-8")
    with local_stack.running(Path(sys.executable), clone, state, []) as (_, values):
        assert values["FUNCTIONS_URL"] == "http://127.0.0.1:1"


def test_a_stack_that_ends_early_gives_its_reason(clone: Path) -> None:
    state = clone / ".devstack"
    starting = local_stack.running(Path(sys.executable), clone, state, ["--taken"], output=state / "stack.log")
    with pytest.raises(TaskError) as caught, starting:
        pytest.fail("it never was ready")
    assert "exit code 1" in str(caught.value)
    assert "choose another with --functions-port" in str(caught.value)


def test_a_stack_that_is_never_ready_is_given_up(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_stack, "READY_SECONDS", 0)
    (clone / "devstack" / "__main__.py").write_text("import time; time.sleep(60)", encoding="utf-8")
    starting = local_stack.running(Path(sys.executable), clone, clone / ".devstack", [])
    with pytest.raises(TaskError, match="not ready within 0 s"), starting:
        pytest.fail("it never was ready")


def test_env_lines_are_read_as_a_shell_reads_them() -> None:
    text = "A='Endpoint=sb://h:1;SharedAccessKey=x+/=;'\nB='it'\\''s'\n\n"
    assert local_stack.parse_env(text) == {"A": "Endpoint=sb://h:1;SharedAccessKey=x+/=;", "B": "it's"}


def test_curl_lines_place_the_sample_order_and_read_it_back() -> None:
    words = [shlex.split(line) for line in local_stack.curl_lines(VALUES)]
    order = json.loads((ROOT / "samples" / "order.json").read_text(encoding="utf-8"))
    api, order_id = "http://127.0.0.1:7071/api", order["orderId"]
    urls = [next(word for word in line if word.startswith("http")) for line in words]
    assert urls == [
        f"{api}/orders",
        f"{api}/orders/{order_id}",
        f"{api}/orders/{order_id}/operations/{order_id}",
        f"{api}/health/ready",
    ]
    assert all("x-functions-key: k==" in line for line in words)
    body = words[0][words[0].index("--data-binary") + 1]
    assert (ROOT / body.removeprefix("@")).is_file()
