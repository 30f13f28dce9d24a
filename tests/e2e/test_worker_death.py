"""The worker is killed at named points with orders in flight: everything is there once, nothing good dead-lettered."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from samples.request_hash import message_id, request_hash
from tests.e2e.clean_stack import clean_stack
from tests.e2e.crashing import BYSTANDERS, VICTIM
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import deployed_app, until

ORDER = order(VICTIM)
FIRST, COPY, MISMATCH, LAST = STORY = (
    message_id(ORDER),
    message_id(ORDER, "copy1"),
    message_id(changed(ORDER)),
    message_id(ORDER, "copy2"),
)


@dataclass(frozen=True, slots=True)
class Crash:
    """Crashes in the story of one order, and what must come of them.

    Attributes:
        plan: the point of each crash.
        first: outcome of the order's first message.
        counts: on which delivery the first message, its copy and the mismatch were settled.
        calls: requests to the store about the order. POST is a commit, GET a read; commas part the messages.
            A worker that has written the order knows that it is there, and reads before it writes.
    """

    plan: str
    first: str
    counts: tuple[int, int, int]
    calls: str


CASES = [
    Crash("before-commit", "applied", (2, 1, 1), "GET POST, GET, GET, GET"),
    Crash("after-commit", "duplicate", (2, 1, 1), "POST GET, POST GET, POST GET, POST GET"),
    Crash("before-read", "applied", (1, 2, 1), "POST, GET, POST GET, POST GET"),
    Crash("before-dead-letter", "applied", (1, 1, 2), "POST, GET, GET GET, POST GET"),
    # Dead-lettered before the worker died: it does not come again.
    Crash("after-dead-letter", "applied", (1, 1, 1), "POST, GET, GET, POST GET"),
    Crash("before-commit before-commit", "applied", (3, 1, 1), "GET GET POST, GET, GET, GET"),
    Crash("before-commit after-commit", "duplicate", (3, 1, 1), "GET POST GET, POST GET, POST GET, POST GET"),
    Crash("after-commit before-read", "duplicate", (3, 1, 1), "POST GET, POST GET, POST GET, POST GET"),
    Crash("before-read before-read", "applied", (1, 3, 1), "POST, GET, POST GET, POST GET"),
    Crash("before-dead-letter before-dead-letter", "applied", (1, 1, 3), "POST, GET, GET GET GET, POST GET"),
    Crash("before-dead-letter after-dead-letter", "applied", (1, 1, 2), "POST, GET, GET GET, POST GET"),
    # The third crash recycles the host.
    Crash(
        "before-commit before-commit before-commit",
        "applied",
        (4, 1, 1),
        "GET GET GET POST, GET, GET, GET",
    ),
]


def crashing_app(folder: Path, plan: str) -> tuple[Path, dict[str, str]]:
    """The app with a worker that kills itself, and the settings that say where."""
    app = deployed_app(folder / "app")
    shutil.copy(Path(__file__).with_name("crashing.py"), app)
    with (app / "function_app.py").open("a", encoding="utf-8") as file:
        file.write("\nimport crashing\n\ncrashing.arm()\n")
    (folder / "files").mkdir()
    return app, {
        "CRASH_PLAN": plan,
        "CRASH_FILES": str(folder / "files"),
        "RETRY_WAIT_SECONDS_MAX": "0.2",
        # A bystander is held longer than the store may take.
        "TRY_SECONDS": "100",
        "STORE_CALL_SECONDS": "100",
    }


@pytest.mark.parametrize("crash", CASES, ids=lambda crash: crash.plan)
def test_a_killed_worker_loses_and_doubles_nothing(tmp_path: Path, crash: Crash) -> None:
    app, settings = crashing_app(tmp_path, crash.plan)
    story = [message(ORDER), message(ORDER, "copy1"), message(changed(ORDER)), message(ORDER, "copy2")]
    bystanders = [message(order(name)) for name in BYSTANDERS]
    times = len(crash.plan.split())
    with clean_stack(app, settings) as stack, Outside.of(stack) as outside:
        outside.send(*bystanders, *story)
        until(lambda: len(list((tmp_path / "files").glob("crash-*"))) == times, f"{times} crashes", 60)
        _check_settlements(outside, crash, times)
        _check_documents(outside, tmp_path / "files" / "calls", crash)
        assert outside.left_in_queue([VICTIM, *BYSTANDERS]) == 0


@pytest.mark.parametrize("point", ["before-send", "after-send"])
def test_a_request_whose_worker_died_is_sent_again_and_places_one_order(tmp_path: Path, point: str) -> None:
    app, settings = crashing_app(tmp_path, point)
    body = json.dumps(ORDER).encode()
    with clean_stack(app, settings) as stack, Outside.of(stack) as outside:
        outside.send(*(message(order(name)) for name in BYSTANDERS))
        assert outside.request("POST", "/api/orders", body).status == 500
        assert outside.request("POST", "/api/orders", body).status == 202
        # Behind whatever was sent before it.
        last = message(ORDER, "copy2")
        outside.send(last)
        assert outside.outcome(last) == "complete duplicate"
        outside.settled(*(message_id(order(name)) for name in BYSTANDERS))
        for order_id in (VICTIM, *BYSTANDERS):
            assert sorted(outside.partition(order_id)) == sorted([order_id, "out:1"])
        assert outside.dead_letters() == {}
        assert outside.left_in_queue([VICTIM, *BYSTANDERS]) == 0


def _check_settlements(outside: Outside, crash: Crash, times: int) -> None:
    # The last message of the session is settled after all before it.
    for name, outcome, count in ((FIRST, crash.first, crash.counts[0]), (COPY, "duplicate", crash.counts[1])):
        (entry,) = outside.settled(name)
        assert (entry.fields["outcome"], entry.fields["delivery_count"]) == (outcome, str(count))
    (last,) = outside.settled(LAST)
    assert (last.fields["outcome"], last.fields["delivery_count"]) == ("duplicate", "1")
    letters = outside.dead_letters()
    assert {name: letter.reason for name, letter in letters.items()} == {MISMATCH: "RequestHashMismatch"}
    # The broker's own count starts at 0.
    assert letters[MISMATCH].delivery_count + 1 == crash.counts[2]
    # What was in flight comes again with a higher count; what waited in the queue does not.
    entries = outside.settled(*(message_id(order(name)) for name in BYSTANDERS))
    assert [(entry.fields["outcome"], entry.fields["delivery_count"]) for entry in entries] == [
        ("applied", str(times + 1))
    ] * len(BYSTANDERS)


def _check_documents(outside: Outside, calls: Path, crash: Crash) -> None:
    attempt_ids = {}
    for order_id in (VICTIM, *BYSTANDERS):
        stored = outside.partition(order_id)
        assert sorted(stored) == sorted([order_id, "out:1"])
        assert stored[order_id]["requestHash"] == request_hash(order(order_id))
        assert stored["out:1"]["message"]["body"]["id"] == f"{order_id}:1"
        attempt_ids[order_id] = stored[order_id]["attemptId"]
    assert len(set(attempt_ids.values())) == len(attempt_ids)
    notes: list[dict[str, Any]] = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    assert [note["method"] for note in notes] == crash.calls.replace(",", "").split()
    commits = [note for note in notes if note["method"] == "POST"]
    assert [note["writes"] for note in commits] == [2] * len(commits)
    # The first commit that reached the store is the one that is there; each run has an id of its own.
    assert commits[0]["attemptId"] == attempt_ids[VICTIM]
    assert len({note["attemptId"] for note in commits}) == len(commits)
