import itertools
from pathlib import Path

from samples.dispositions import Disposition, await_final, completions, parse_dispositions

REST = "consumer=orders key=A1 partition=A1"


def line(disposition: str, outcome: str, message_id: str, number: int) -> str:
    return (
        f"2026-03-02 info: Function.x.User disposition={disposition} outcome={outcome} {REST} "
        f"message_id={message_id} sequence_number={number} delivery_count=1 hash=0123456789abcdef\n"
    )


def test_lines_without_a_disposition_are_passed_over() -> None:
    log = "Host started\n" + line("complete", "applied", "A1~0", 7) + "\nExecuted 'x' (Succeeded)\n"
    assert parse_dispositions(log) == [Disposition("complete", "applied", "A1~0", 7)]


def test_a_line_that_is_still_being_written_waits_for_its_end() -> None:
    whole = line("complete", "applied", "A1~0", 7)
    for end in range(len(whole) - 1):
        assert parse_dispositions(whole[:end]) == []


def test_a_message_counts_once_and_by_its_first_completion() -> None:
    log = (
        line("retry", "StoreUnavailable", "A1~0", 1)
        + line("complete", "applied", "A1~0", 1)
        + line("complete", "duplicate", "A1~0", 1)
        + line("complete", "duplicate", "A1~0", 2)
        + line("dead-letter", "RequestHashMismatch", "A1~1", 3)
    )
    found = completions(parse_dispositions(log))
    assert {number: entry.outcome for number, entry in found.items()} == {1: "applied", 2: "duplicate"}


async def test_waiting_ends_when_all_have_left_the_queue(tmp_path: Path) -> None:
    log = tmp_path / "functions.log"
    log.write_text(line("complete", "applied", "a", 1) + line("dead-letter", "x", "b", 2), encoding="utf-8")
    assert await await_final(log, {"a", "b"}, seconds=60, clock=lambda: 0.0) == frozenset()


async def test_what_is_not_settled_in_time_is_named(tmp_path: Path) -> None:
    log = tmp_path / "functions.log"
    log.write_text(line("complete", "applied", "a", 1) + line("retry", "x", "b", 2), encoding="utf-8")
    ticks = itertools.count(step=100)
    assert await await_final(log, {"a", "b", "c"}, seconds=60, clock=lambda: next(ticks)) == {"b", "c"}
