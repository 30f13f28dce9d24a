"""The worker is killed at named points with orders in flight: everything is there once, nothing good dead-lettered."""

import shutil
from pathlib import Path

import pytest

from samples.request_hash import message_id, request_hash
from tests.e2e.orders import Order, changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import copy_app, running_stack, until

BYSTANDERS = [f"bystander-{number}" for number in range(6)]

CASES = [
    ("before-commit", 1),
    ("after-commit", 1),
    ("before-read-back", 1),
    ("before-dead-letter", 1),
    ("after-dead-letter", 1),
    ("before-commit", 2),
    ("before-dead-letter", 2),
    # The third crash recycles the host.
    ("before-commit", 3),
]


def crashing_app(folder: Path, point: str, times: int) -> tuple[Path, dict[str, str]]:
    """The app with a worker that kills itself, and the settings that say where."""
    app = copy_app(folder / "app")
    shutil.copy(Path(__file__).with_name("crashing.py"), app / "crashing.py")
    with (app / "function_app.py").open("a", encoding="utf-8") as file:
        file.write("\nimport crashing\n\ncrashing.arm()\n")
    crashes = folder / "crashes"
    crashes.mkdir()
    return app, {
        "CRASH_AT": point,
        "CRASH_TIMES": str(times),
        "CRASH_FILES": str(crashes),
        "RETRY_WAIT_SECONDS_MAX": "0.2",
    }


@pytest.mark.parametrize(("point", "times"), CASES, ids=[f"{point} x {times}" for point, times in CASES])
def test_a_killed_worker_loses_and_doubles_nothing(tmp_path: Path, point: str, times: int) -> None:
    app, settings = crashing_app(tmp_path, point, times)
    victim = order("victim")
    story = [message(victim), message(victim, "copy1"), message(changed(victim)), message(victim, "copy2")]
    others = {name: order(name) for name in BYSTANDERS}
    with running_stack(app, settings) as stack, Outside.of(stack) as outside:
        outside.send(*(message(other) for other in others.values()), *story)
        until(lambda: len(list((tmp_path / "crashes").iterdir())) == times, f"{times} crashes", 60)
        outside.settled(*(message_id(other) for other in others.values()))
        outside.settled(*(message_id(victim, suffix) for suffix in ("", "copy1", "copy2")))
        _check_documents(outside, {"victim": victim, **others})
        _check_settlements(outside, point, times)
        assert outside.left_in_queue(["victim", *others]) == 0


def _check_documents(outside: Outside, orders: dict[str, Order]) -> None:
    for order_id, placed in orders.items():
        stored = outside.partition(order_id)
        assert sorted(stored) == sorted([order_id, "out:1"])
        assert stored[order_id]["requestHash"] == request_hash(placed)
        assert stored["out:1"]["message"]["body"]["id"] == f"{order_id}:1"


def _check_settlements(outside: Outside, point: str, times: int) -> None:
    victim = order("victim")
    letters = outside.dead_letters()
    assert {name: letter.reason for name, letter in letters.items()} == {
        message_id(changed(victim)): "RequestHashMismatch"
    }
    # What was killed comes again with a higher count; its neighbours in flight too, but those behind it do not.
    counts = [outside.settled(message_id(order(name)))[0].fields["delivery_count"] for name in BYSTANDERS]
    assert counts == [str(times + 1)] * len(BYSTANDERS)
    (first,), (copy,), (last,) = (outside.settled(message_id(victim, suffix)) for suffix in ("", "copy1", "copy2"))
    mine = {
        "before-commit": ("applied", times + 1, 1, 1),
        "after-commit": ("duplicate", times + 1, 1, 1),
        "before-read-back": ("applied", 1, times + 1, 1),
        "before-dead-letter": ("applied", 1, 1, times + 1),
        # Dead-lettered before the worker died: it does not come again.
        "after-dead-letter": ("applied", 1, 1, 1),
    }[point]
    assert (
        first.fields["outcome"],
        int(first.fields["delivery_count"]),
        int(copy.fields["delivery_count"]),
        letters[message_id(changed(victim))].delivery_count + 1,
    ) == mine
    assert (copy.fields["outcome"], last.fields["outcome"]) == ("duplicate", "duplicate")
