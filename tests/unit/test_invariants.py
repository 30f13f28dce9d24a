"""Each invariant, broken by hand in the documents."""

from collections.abc import Callable

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, Disposition, Retry
from shared.idempotency.json_text import Json
from shared.idempotency.ports import Document
from shared.idempotency.request_hash import request_hash
from shared.testing.invariants import InvariantError, Result, check_documents, check_same, check_settlement
from tests.unit.example_consumers import LOYALTY, grant

type Places = dict[tuple[str, str], Document]

APPLIED = Complete("applied")


def marker() -> Document:
    return {"id": "op:g1", "type": "operation", "requestHash": request_hash(grant("g1")), "attemptId": "a"}


def outbox(number: int, **message: Json) -> Document:
    content: dict[str, Json] = {"messageId": f"c1:{number}~abc", "body": {"id": f"c1:{number}", "time": "then"}}
    return {"id": f"out:{number}", "type": "outbox", "readySince": "then", "message": content | message}


def sound() -> Places:
    """What two events of one message leave."""
    return {
        ("c1", "op:g1"): marker(),
        ("c1", "c1"): {"id": "c1", "type": "Points", "total": 5, "outboxSequence": 2, "updatedAt": "then"},
        ("c1", "out:1"): outbox(1),
        ("c1", "out:2"): outbox(2),
    }


def changed(place: str, **fields: Json) -> Places:
    documents = sound()
    documents["c1", place] = documents["c1", place] | fields
    return documents


def without(place: str) -> Places:
    documents = sound()
    del documents["c1", place]
    return documents


@pytest.mark.parametrize(
    ("disposition", "documents", "words"),
    [
        (APPLIED, {}, "completed as applied, but marker op:g1 is not in the store"),
        (APPLIED, changed("op:g1", requestHash="v1:0"), "completed as applied, but marker op:g1 bears another request"),
        (APPLIED, changed("op:g1", requestHash=None), "completed as applied, but marker op:g1 bears another request"),
        (DeadLetter("X", "y"), sound(), "dead-lettered X, although marker op:g1 is in the store"),
    ],
)
def test_settlements_that_the_store_contradicts(disposition: Disposition, documents: Places, words: str) -> None:
    with pytest.raises(InvariantError) as caught:
        check_settlement(LOYALTY, grant("g1"), disposition, documents.get(("c1", "op:g1")))
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("disposition", "documents"),
    [
        (APPLIED, sound()),
        (Complete("ignored"), sound()),
        (DeadLetter("X", "y"), {}),
        (DeadLetter("RequestHashMismatch", "y"), changed("op:g1", requestHash="v1:0")),
        (Retry("later"), {}),
        (Retry("later"), sound()),
    ],
)
def test_settlements_that_the_store_bears_out(disposition: Disposition, documents: Places) -> None:
    check_settlement(LOYALTY, grant("g1"), disposition, documents.get(("c1", "op:g1")))


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (without("out:1"), "outbox documents of c1 are numbered [2], not 1 to 1"),
        (without("out:2"), "state of c1 counts 2 outbox documents, the store holds 1"),
        (without("c1"), "c1 has outbox documents, but no state document"),
        (changed("c1", outboxSequence=3), "state of c1 counts 3 outbox documents, the store holds 2"),
        (changed("out:2", message={"messageId": "c1:1~abc"}), "outbox documents of c1 share a messageId"),
        (
            sound() | {("c1", "op:g2"): {"id": "op:g2", "type": "operation"}},
            "orphan marker op:g2 in c1: no message that was completed has it",
        ),
    ],
)
def test_documents_that_do_not_fit_together(documents: Places, words: str) -> None:
    with pytest.raises(InvariantError) as caught:
        check_documents(LOYALTY, [grant("g1")], Result(documents, [APPLIED]))
    assert str(caught.value) == words


def test_documents_that_fit_together() -> None:
    check_documents(LOYALTY, [grant("g1")], Result(sound(), [APPLIED]))


def test_the_marker_of_a_message_that_was_not_completed_is_an_orphan() -> None:
    with pytest.raises(InvariantError, match="orphan marker op:g1 in c1"):
        check_documents(LOYALTY, [grant("g1")], Result(sound(), [DeadLetter("X", "y")]))


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (without("op:g1"), "document op:g1 of c1 is missing"),
        (sound() | {("c2", "c2"): {"id": "c2"}}, "document c2 of c2 is surplus"),
        (changed("c1", total=6), "document c1 of c1 differs: total is 6, without a fault 5"),
        (changed("c1", more=1), "document c1 of c1 differs: more is surplus"),
        (changed("out:1", message={"messageId": "c1:1~x"}), "document out:1 of c1 differs: message.body is None"),
        (changed("out:1", message=outbox(9)["message"]), "document out:1 of c1 differs: message.body.id is 'c1:9'"),
    ],
)
def test_a_difference_is_named(documents: Places, words: str) -> None:
    with pytest.raises(InvariantError) as caught:
        check_same(Result(sound(), [APPLIED]), Result(documents, [APPLIED]))
    assert str(caught.value).startswith(words)


TIMES: list[Callable[[], Places]] = [
    lambda: changed("c1", updatedAt="now"),
    lambda: changed("op:g1", attemptId="another"),
    lambda: changed("out:1", readySince="now"),
    lambda: changed("out:1", message={"messageId": "c1:1~other", "body": {"id": "c1:1", "time": "now"}}),
]


@pytest.mark.parametrize("documents", TIMES)
def test_times_and_attempts_may_differ(documents: Callable[[], Places]) -> None:
    check_same(Result(sound(), [APPLIED]), Result(documents(), [Complete("duplicate")]))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(APPLIED, DeadLetter("X", "y")), (DeadLetter("X", "y"), APPLIED), (DeadLetter("X", "y"), DeadLetter("Z", "y"))],
)
def test_another_settlement_is_told(wanted: Complete | DeadLetter, found: Complete | DeadLetter) -> None:
    with pytest.raises(InvariantError) as caught:
        check_same(Result({}, [APPLIED, wanted]), Result({}, [APPLIED, found]))
    assert str(caught.value) == f"message 2 is settled as {found}, without a fault as {wanted}"
