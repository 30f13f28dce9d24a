"""What a proof met is noted from what its runs saw, and a proof that met too little fails."""

from collections.abc import Sequence

import pytest

from blueprints.process_order_operation import process_order_operation
from shared.idempotency.ports import (
    CommitOutcome,
    Committed,
    Conflict,
    Create,
    Document,
    MarkerExists,
    OutcomeUnknown,
    Throttled,
)
from shared.testing import crash_points
from shared.testing.coverage import REACHED_IN_PAIRS, REACHED_SINGLY, ObservedStore, Situation
from shared.testing.crash_points import Fault
from shared.testing.effectively_once import assert_effectively_once
from shared.testing.memory_store import MemoryStore
from tests.unit import test_placing_effectively_once as placing
from tests.unit.breaking import broken
from tests.unit.example_consumers import ACCOUNTS, LOYALTY, AccountOpened, OwnerChanged, changed, grant, opened
from tests.unit.scripted_store import Applied, Missing, Script, ScriptedStore


def marker(attempt_id: str = "attempt-1", request_hash: str = "v1:1") -> Document:
    return {"id": "op:g1", "customerId": "c1", "attemptId": attempt_id, "requestHash": request_hash}


async def reached(script: dict[int, Script], *, stored: Document | None = None, reads: str = "op:g1") -> set[Situation]:
    """What one commit and the read after it are noted as."""
    memory = MemoryStore("/customerId")
    if stored is not None:
        memory.put("c1", stored)
    found: set[Situation] = set()
    store = ObservedStore(ScriptedStore(memory, script), found)
    await store.commit("c1", [Create(marker())])
    await store.read("c1", reads)
    await store.read("c1", "op:g1")
    return found


@pytest.mark.parametrize(
    ("script", "stored", "situation"),
    [
        ({1: Applied(MarkerExists())}, None, Situation.OWN_WRITE),
        ({}, marker("attempt-2"), Situation.SAME_REQUEST),
        ({}, marker("attempt-2", "v1:2"), Situation.OTHER_REQUEST),
        ({2: Missing()}, marker("attempt-2"), Situation.MARKER_UNSEEN),
        ({1: Applied(OutcomeUnknown("reset"))}, None, Situation.UNKNOWN_APPLIED),
        ({1: OutcomeUnknown("reset")}, None, Situation.UNKNOWN_NOT_APPLIED),
        ({1: Throttled(1.0)}, None, Situation.THROTTLED),
        ({1: Conflict(412)}, None, Situation.STATE_CHANGED),
    ],
)
async def test_a_situation_is_noted(script: dict[int, Script], stored: Document | None, situation: Situation) -> None:
    assert await reached(script, stored=stored) == {situation}


@pytest.mark.parametrize("outcome", [Committed(), Conflict(449), Conflict(404)])
async def test_what_leaves_no_doubt_is_not_noted(outcome: CommitOutcome) -> None:
    assert await reached({1: outcome}) == set()


async def test_only_the_read_of_the_marker_resolves_a_doubt() -> None:
    assert await reached({1: OutcomeUnknown("reset"), 3: Missing()}, reads="c1") == {Situation.UNKNOWN_NOT_APPLIED}


def test_three_messages_meet_every_situation() -> None:
    assert assert_effectively_once(LOYALTY, [grant("g0"), grant("g1"), grant("g2")]) == set(Situation)


def test_three_messages_to_a_state_that_is_a_marker_meet_every_situation() -> None:
    accounts: Sequence[AccountOpened | OwnerChanged] = [opened(), changed("x1"), changed("x2")]
    assert assert_effectively_once(ACCOUNTS, accounts) == set(Situation)


def test_the_apps_own_proof_meets_every_situation_that_an_order_can() -> None:
    # Orders are created and marked by their first message, and no second one changes them.
    unmet = {Situation.STATE_CHANGED}
    assert assert_effectively_once(process_order_operation, [placing.placed()]) == set(Situation) - unmet


def test_five_messages_meet_what_single_faults_bring_about() -> None:
    messages = [grant(f"g{number}") for number in range(5)]
    assert assert_effectively_once(LOYALTY, messages) >= {*REACHED_SINGLY, Situation.STATE_CHANGED}


def test_a_proof_without_anything_taken_in_has_nothing_to_meet() -> None:
    assert assert_effectively_once(LOYALTY, [grant("g1", points=-1)]) == {
        Situation.DIED_ASLEEP,
        Situation.GAVE_UP,
    }


LOST = [Fault.ANSWER_LOST, Fault.APPLIED_AND_HANGS, Fault.LANDS_AFTER_ONE_CALL, Fault.LANDS_AFTER_TWO_CALLS]


@pytest.mark.parametrize(
    ("faults", "left_out", "missed"),
    [
        ("COMMIT_FAULTS", [Fault.THROTTLED], "a commit is throttled"),
        ("COMMIT_FAULTS", LOST, "no answer to a commit that was applied"),
        ("READ_AFTER_409_FAULTS", [Fault.MISSES], "409, and then no marker is found"),
        ("SLEEP_FAULTS", [Fault.CANCELLED], "dies while it waits"),
    ],
)
def test_a_proof_that_missed_a_situation_is_hollow(
    monkeypatch: pytest.MonkeyPatch, faults: str, left_out: Sequence[Fault], missed: str
) -> None:
    fewer = tuple(fault for fault in getattr(crash_points, faults) if fault not in left_out)
    monkeypatch.setattr(crash_points, faults, fewer)
    assert broken([grant("g1")]) == f"the proof is hollow, it never met: {missed}"


def test_every_situation_but_those_of_the_messages_is_asked_for() -> None:
    assert set(Situation) - REACHED_IN_PAIRS == {Situation.OTHER_REQUEST, Situation.STATE_CHANGED}
