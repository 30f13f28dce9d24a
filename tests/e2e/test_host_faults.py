"""What a host does to its app: locks that run out under a busy session."""

import json
import shutil
from pathlib import Path
from typing import Any

from samples.request_hash import message_id
from tests.e2e.clean_stack import clean_stack
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import deployed_app, until


def slow_app(folder: Path, *, queue: dict[str, Any], service_bus: dict[str, Any] | None = None) -> Path:
    """The app with slow commits, and with other settings of the queue and the host."""
    app = deployed_app(folder / "app")
    shutil.copy(Path(__file__).with_name("slow.py"), app)
    with (app / "function_app.py").open("a", encoding="utf-8") as file:
        file.write("\nimport slow\n\nslow.arm()\n")
    topology = json.loads((app / "infra" / "topology.json").read_text(encoding="utf-8"))
    topology["serviceBus"]["queues"]["orders"]["local"] |= queue
    (app / "infra" / "topology.json").write_text(json.dumps(topology), encoding="utf-8")
    host = json.loads((app / "host.json").read_text(encoding="utf-8"))
    host["extensions"]["serviceBus"] |= service_bus or {}
    (app / "host.json").write_text(json.dumps(host), encoding="utf-8")
    return app


def test_a_lock_that_runs_out_under_a_busy_session_doubles_nothing(tmp_path: Path) -> None:
    # The lock is renewed for 1 s from the session's accept, and holds 2 s; a commit takes 3 s.
    app = slow_app(tmp_path, queue={"lockDuration": "PT2S"}, service_bus={"maxAutoLockRenewalDuration": "00:00:01"})
    settings = {"COMMIT_SECONDS": "3", "STORE_CALL_SECONDS": "20", "TRY_SECONDS": "20", "RETRY_WAIT_SECONDS_MAX": "0.1"}
    placed = order("busy")
    story = [message(placed), message(placed, "copy1"), message(changed(placed))]
    with clean_stack(app, settings) as stack, Outside.of(stack) as outside:
        outside.send(*story)
        until(lambda: message_id(changed(placed)) in outside.dead_letters(), "the mismatch", 60)
        until(lambda: outside.left_in_queue(["busy"]) == 0, "an empty queue", 60)
        first = outside.dispositions(message_id(placed))
        # It ran more than once at a time, and each run knew how it stood.
        assert len(first) > 1
        assert sorted({entry.fields["outcome"] for entry in first}) == ["applied", "duplicate"]
        assert [entry.fields["outcome"] for entry in first].count("applied") == 1
        assert sorted(outside.partition("busy")) == ["busy", "out:1"]
        letters = outside.dead_letters()
        assert {name: letter.reason for name, letter in letters.items()} == {
            message_id(changed(placed)): "RequestHashMismatch"
        }
