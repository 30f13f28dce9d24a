"""A message that kills its worker at every try, and its neighbours: the waits let these finish in between.

Each crash counts a delivery of everything in flight, those that wait included. A neighbour is through when its try
ends before the killer's does.
"""

import random

import pytest

from shared.idempotency.backoff import Limits, wait_before_try

LIMITS = Limits()
DELIVERIES_MAX = 25
NEIGHBOURS = 20
KILLER_SECONDS = 0.3


def neighbours_left(work_seconds: float, chance: random.Random) -> int:
    """How many neighbours are still there when the killer has used up its deliveries."""
    left = NEIGHBOURS
    for count in range(2, DELIVERIES_MAX + 1):
        # Whoever is left has been in flight at every crash, and has the killer's count.
        waits = [wait_before_try(count, limits=LIMITS, fraction=chance.random()) for _ in range(left)]
        crash = wait_before_try(count, limits=LIMITS, fraction=chance.random()) + KILLER_SECONDS
        left = sum(wait + work_seconds > crash for wait in waits)
    return left


@pytest.mark.parametrize("work_seconds", [0.01, 0.3, 1.0])
def test_only_the_killer_uses_up_its_deliveries(work_seconds: float) -> None:
    rounds = [neighbours_left(work_seconds, random.Random(seed)) for seed in range(300)]  # noqa: S311 - repeatable
    assert rounds == [0] * 300


def test_without_a_spread_nobody_would_get_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.idempotency.backoff.JITTER", 0.0)
    assert neighbours_left(1.0, random.Random(1)) == NEIGHBOURS  # noqa: S311 - repeatable
