"""A figure stands for runs that succeeded."""

from pathlib import Path

import pytest

from bench.load import Ends

SUCCEEDED = "12:00:00.000Z INFO Function.f: Executed 'Functions.f' (Succeeded, Id=1, Duration=3ms)\n"
FAILED = "12:00:00.000Z ERROR Function.f: Executed 'Functions.f' (Failed, Id=2, Duration=3ms)\n"
OTHER = "12:00:00.000Z INFO Function.f: Executing 'Functions.f' (Id=1)\n"


def test_runs_that_ended_are_counted_once(tmp_path: Path) -> None:
    log = tmp_path / "functions.log"
    log.write_text(SUCCEEDED)
    ends = Ends(log)
    ends.skip()
    with log.open("a") as file:
        file.write(OTHER + SUCCEEDED + SUCCEEDED[:40])
        file.flush()
        assert ends.count() == 1
        file.write(SUCCEEDED[40:] + SUCCEEDED)
        file.flush()
        assert ends.count() == 2
    assert ends.count() == 0
    ends.close()


def test_a_run_that_failed_ends_the_measurement(tmp_path: Path) -> None:
    log = tmp_path / "functions.log"
    log.write_text(SUCCEEDED + FAILED)
    ends = Ends(log)
    with pytest.raises(RuntimeError, match="Id=2"):
        ends.count()
    ends.close()
