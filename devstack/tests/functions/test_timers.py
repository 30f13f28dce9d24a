"""Timers in a running host."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from devstack.tests.functions.conftest import StartHost
from devstack.tests.functions.running_host import RunningHost, until, write_app

APP = """
import logging
import time

import azure.functions as func

app = func.FunctionApp()


@app.timer_trigger(arg_name="timer", schedule="{schedule}")
async def tick(timer: func.TimerRequest) -> None:
    logging.info("tick past_due=%s", timer.past_due)


@app.timer_trigger(arg_name="timer", schedule="00:00:01")
def fail(timer: func.TimerRequest) -> None:
    raise RuntimeError("the run fails")


@app.timer_trigger(arg_name="timer", schedule="00:00:01")
def slow(timer: func.TimerRequest) -> None:
    logging.info("slow begins")
    time.sleep(1.5)
    logging.info("slow ends")
"""


def test_a_timer_runs_again_and_again_whatever_its_runs_do(start_host: StartHost) -> None:
    host = start_host(APP.replace("{schedule}", "%TICK%"), settings={"TICK": "00:00:01"})
    host.wait_for_log("tick past_due=False", 2)
    host.wait_for_log("Executed 'Functions.fail' (Failed", 2)
    host.wait_for_log("slow ends", 2)
    words = [line.rpartition("slow ")[2] for line in host.log.splitlines() if ": slow " in line]
    # One run at a time.
    assert words[:4] == ["begins", "ends", "begins", "ends"]


def test_a_run_that_was_missed_comes_at_the_start_as_past_due(tmp_path: Path) -> None:
    app = write_app(tmp_path / "app", APP.replace("{schedule}", "0 0 0 1 1 *"))
    state = app / ".devstack" / "timers.json"
    host = RunningHost.start(app, tmp_path / "first.log", {})
    try:
        until(state.exists, "a status")
        (name, fields), *others = json.loads(state.read_text()).items()
        assert (name, others) == ("tick", [])
        due = datetime.fromisoformat(fields["Next"])
        assert (due.month, due.day, due.hour) == (1, 1, 0)
        host.wait_for_log("Executed 'Functions.slow'")
        assert "tick past_due" not in host.log
    finally:
        host.discard()
    missed = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    state.write_text(json.dumps({"tick": fields | {"Next": missed}, "other": "unreadable"}))
    again = RunningHost.start(app, tmp_path / "second.log", {})
    try:
        again.wait_for_log("tick past_due=True")
        until(lambda: json.loads(state.read_text())["tick"]["Next"] == fields["Next"], "the next time")
    finally:
        again.discard()


def test_a_stop_waits_for_the_run_that_goes_on_and_begins_no_other(tmp_path: Path) -> None:
    app = write_app(tmp_path / "app", APP.replace("{schedule}", "0 0 0 1 1 *"))
    host = RunningHost.start(app, tmp_path / "host.log", {})
    try:
        host.wait_for_log("slow begins")
        assert host.stop() == 0
        assert host.log.count("slow begins") == host.log.count("slow ends") == 1
    finally:
        host.discard()


def test_a_status_of_another_schedule_counts_for_nothing(tmp_path: Path) -> None:
    app = write_app(tmp_path / "app", APP.replace("{schedule}", "0 * * * * *"))
    state = app / ".devstack" / "timers.json"
    state.parent.mkdir()
    far = (datetime.now(UTC) + timedelta(days=300)).isoformat()
    state.write_text(json.dumps({"tick": {"Schedule": "0 0 0 1 1 *", "Last": far, "Next": far, "LastUpdated": far}}))
    host = RunningHost.start(app, tmp_path / "host.log", {})
    try:
        until(lambda: json.loads(state.read_text())["tick"]["Schedule"] == "0 * * * * *", "a new status")
        due = datetime.fromisoformat(json.loads(state.read_text())["tick"]["Next"])
        assert due - datetime.now(UTC) <= timedelta(minutes=1)
    finally:
        host.discard()
