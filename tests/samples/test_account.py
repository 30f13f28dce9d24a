from dataclasses import replace
from typing import Final

from samples.account import Account, differences, table, take_account

FOUND: Final = Account(
    sent=6,
    documents=2,
    events=2,
    other_documents=0,
    placed=2,
    duplicates=1,
    other_completions=0,
    dropped=1,
    dead_letters={"RequestHashMismatch": 1, "MalformedMessage": 1},
    left=0,
)


def test_what_was_sent_and_is_nowhere_was_dropped() -> None:
    found = take_account(
        sent=6,
        outcomes=["applied", "applied", "duplicate"],
        dead_letter_reasons=["RequestHashMismatch", "MalformedMessage"],
        left=0,
        documents=2,
        events=2,
        other_documents=0,
    )
    assert found == FOUND
    assert differences(FOUND, found) == []


def test_an_unknown_outcome_is_counted_apart() -> None:
    found = take_account(
        sent=3, outcomes=["ignored"], dead_letter_reasons=[], left=1, documents=0, events=0, other_documents=0
    )
    assert (found.other_completions, found.placed, found.left, found.dropped) == (1, 0, 1, 1)


def test_every_number_that_is_off_is_named() -> None:
    wrong = replace(FOUND, events=3, dead_letters={"RequestHashMismatch": 2})
    assert differences(FOUND, wrong) == [
        "events: expected 2, found 3",
        "dead_letters: expected {'RequestHashMismatch': 1, 'MalformedMessage': 1}, found {'RequestHashMismatch': 2}",
    ]


def test_the_table_shows_every_number_and_the_reasons_in_order() -> None:
    lines = table(FOUND)
    assert [int(line.split()[0]) for line in lines] == [6, 2, 1, 0, 2, 0, 1, 2, 2, 0]
    assert any(line.endswith(": MalformedMessage 1, RequestHashMismatch 1") for line in lines)
