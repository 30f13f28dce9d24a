"""What a host does to its app: locks that run out under a busy session."""

from pathlib import Path

from samples.request_hash import message_id
from tests.e2e.apps import slow_app
from tests.e2e.clean_stack import clean_stack
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import until


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
