"""Admission by marker."""

import pytest

from shared.idempotency.admission import Admission, Duplicate, Fresh, Mismatch, OwnWrite, admit
from shared.idempotency.errors import NewerVersionError
from shared.idempotency.ports import Document
from shared.idempotency.request_hash import request_hash
from tests.unit.example_consumers import grant

SAME = request_hash(grant("g1"))
OTHER = request_hash(grant("g1", points=6))


@pytest.mark.parametrize(
    ("marker", "admission"),
    [
        ({"lastSequence": 0, "parked": {"2": "op"}}, Fresh()),
        ({"attemptId": "mine", "requestHash": SAME}, OwnWrite()),
        ({"attemptId": "mine", "requestHash": "v2:written-by-a-newer-self"}, OwnWrite()),
        ({"attemptId": "another", "requestHash": SAME}, Duplicate()),
        ({"requestHash": SAME}, Duplicate()),
        ({"attemptId": "another", "requestHash": OTHER}, Mismatch()),
        ({"attemptId": None, "requestHash": OTHER}, Mismatch()),
        ({"attemptId": "another"}, Mismatch()),
        ({"attemptId": "another", "requestHash": None}, Mismatch()),
        ({}, Mismatch()),
    ],
)
def test_a_message_is_judged_by_its_marker(marker: Document, admission: Admission) -> None:
    assert admit(marker, grant("g1"), "mine") == admission


def test_a_marker_with_a_newer_hash_is_not_judged() -> None:
    with pytest.raises(NewerVersionError):
        admit({"attemptId": "another", "requestHash": "v2:0123"}, grant("g1"), "mine")
