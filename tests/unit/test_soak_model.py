"""The soak's model: what it calls a violation."""

import random

import pytest

from tests.soak.model import Found, Model, Sent, story, violations


def a_round() -> tuple[Model, dict[str, Found], dict[str, list[str]]]:
    """Twenty orders as they must be found."""
    model, chance = Model(), random.Random(7)  # noqa: S311 - repeatable choices
    for number in range(20):
        for sent in story(number, chance):
            model.note(sent)
    found = {
        order_id: Found(frozenset({order_id, "out:1"}), wanted, f"{order_id}:1")
        for order_id, wanted in model.hashes.items()
    }
    return model, found, {name: [reason] for name, reason in model.dead_letters.items()}


def test_a_round_as_it_must_be() -> None:
    model, found, letters = a_round()
    assert len(model.hashes) == 20
    assert letters
    assert violations(model, found, letters, 0) == []


def test_what_is_left_is_a_violation() -> None:
    assert violations(*a_round(), 3) == ["3 messages are left in the queue"]


@pytest.mark.parametrize(
    "stored",
    [
        Found(frozenset(), None, None),
        Found(frozenset({"soak-3"}), "HASH", None),
        Found(frozenset({"soak-3", "out:1", "out:2"}), "HASH", "soak-3:1"),
        Found(frozenset({"soak-3", "out:1"}), "another", "soak-3:1"),
        Found(frozenset({"soak-3", "out:1"}), "HASH", "soak-3:2"),
    ],
)
def test_documents_that_are_missing_doubled_or_others_are_violations(stored: Found) -> None:
    model, found, letters = a_round()
    wanted = model.hashes["soak-3"]
    found["soak-3"] = Found(
        stored.documents, wanted if stored.request_hash == "HASH" else stored.request_hash, stored.event_id
    )
    (fault,) = violations(model, found, letters, 0)
    assert fault.startswith("soak-3: stored Found(")


def test_dead_letters_that_are_missing_doubled_or_wrong_are_violations() -> None:
    model, found, letters = a_round()
    (name, *_), good = list(letters), next(iter(set(model.messages) - set(letters)))
    for reasons in ([], ["RequestHashMismatch"] * 2, ["MaxDeliveryCountExceeded"]):
        (fault,) = violations(model, found, {**letters, name: reasons}, 0)
        assert fault == f"{name}: dead-lettered {reasons}, not once for RequestHashMismatch"
    (fault,) = violations(model, found, {**letters, good: ["MaxDeliveryCountExceeded"]}, 0)
    assert fault == f"{good}: dead-lettered ['MaxDeliveryCountExceeded'], and must not be"


def test_the_first_message_of_an_order_is_the_one_that_is_placed() -> None:
    model = Model()
    first, *_ = story(1, random.Random(1))  # noqa: S311 - repeatable choices
    model.note(first)
    model.note(Sent(first.order_id, "other", {**first.order, "currency": "EUR"}, reason="RequestHashMismatch"))
    assert list(model.hashes) == ["soak-1"]
    assert model.dead_letters == {"other": "RequestHashMismatch"}
