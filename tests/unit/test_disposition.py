"""The one place where a store's outcome becomes a step: the whole table, and that it is whole."""

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, ReadMarker, Retry, Step, TryAgain, step_after
from shared.idempotency.ports import (
    AccessDenied,
    CommitOutcome,
    Committed,
    Conflict,
    MarkerExists,
    OutcomeUnknown,
    PartitionFull,
    Refused,
    Throttled,
    TooLarge,
)

TABLE: list[tuple[CommitOutcome, int, Step]] = [
    (Committed(), 0, Complete("applied")),
    (MarkerExists(), 0, ReadMarker("marker exists")),
    (OutcomeUnknown("reset"), 0, ReadMarker("reset")),
    (Conflict(409), 0, TryAgain("conflict 409")),
    (Conflict(404), 0, TryAgain("conflict 404")),
    (Conflict(412), 0, TryAgain("conflict 412")),
    (Conflict(449), 0, TryAgain("conflict 449")),
    (Throttled(1.5), 0, TryAgain("throttled", 1.5)),
    (TooLarge("3 MB"), 0, DeadLetter("PayloadTooLarge", "3 MB")),
    (PartitionFull(), 0, DeadLetter("PartitionFull", "the partition is at the store's size limit")),
    (Refused(400), 0, TryAgain("refused 400")),
    (Refused(400), 1, DeadLetter("StoreRejected", "the store refused the request with 400")),
    (Refused(400), 2, DeadLetter("StoreRejected", "the store refused the request with 400")),
    (AccessDenied(401), 0, Retry("store access denied 401", alert=True)),
    (AccessDenied(403), 5, Retry("store access denied 403", alert=True)),
    (AccessDenied(404), 0, Retry("store access denied 404", alert=True)),
]


@pytest.mark.parametrize(("outcome", "refusals", "step"), TABLE)
def test_the_table(outcome: CommitOutcome, refusals: int, step: Step) -> None:
    assert step_after(outcome, refusals=refusals) == step


def test_the_table_holds_every_outcome() -> None:
    assert {type(outcome) for outcome, _, _ in TABLE} == set(CommitOutcome.__value__.__args__)
