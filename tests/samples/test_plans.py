import json
from pathlib import Path

import pytest

from samples.online_retail import load_orders
from samples.plans import Plan, Post, Send, changed, each_order_three_times, story
from samples.request_hash import message_id, request_hash

ORDERS = load_orders(Path(__file__).parents[2] / "samples" / "orders.csv")


def sent(plan: Plan) -> int:
    return sum(len(step.letters) if isinstance(step, Send) else 1 for step in plan.steps)


def test_a_file_is_sent_three_times_and_three_orders_changed() -> None:
    plan = each_order_three_times(ORDERS)
    first, again, copies, others = (step.letters for step in plan.steps if isinstance(step, Send))
    assert first == again
    assert [letter.message_id for letter in copies] == [f"{letter.message_id}~copy1" for letter in first]
    assert [letter.body for letter in copies] == [letter.body for letter in first]
    assert [letter.session_id for letter in others] == ["700101", "700102", "700103"]
    assert not {letter.message_id for letter in others} & {letter.message_id for letter in first}
    assert sent(plan) == plan.expected.sent == 8 + 8 + 8 + 3
    assert (plan.expected.documents, plan.expected.duplicates, plan.expected.dropped) == (8, 8, 8)
    assert plan.expected.dead_letters == {"RequestHashMismatch": 3}
    assert len(plan.message_ids) == 8 + 8 + 3


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_no_more_orders_are_changed_than_there_are(count: int) -> None:
    plan = each_order_three_times(ORDERS[:count])
    assert plan.expected.dead_letters == {"RequestHashMismatch": min(count, 3)}
    assert sent(plan) == plan.expected.sent


def test_numbers_fit_together() -> None:
    for plan in (story("1"), each_order_three_times(ORDERS)):
        expected = plan.expected
        ends = expected.placed + expected.duplicates + expected.dropped + sum(expected.dead_letters.values())
        assert ends == expected.sent == sent(plan)
        assert len(plan.message_ids) == expected.sent - expected.dropped


def test_the_story_ends_a_message_in_every_way() -> None:
    plan = story("7")
    post, first, again, copy, other, half = plan.steps
    assert isinstance(post, Post)
    letters = [step.letters[0] for step in (first, again, copy, other, half) if isinstance(step, Send)]
    assert letters[0] == letters[1]
    assert letters[2].message_id == letters[0].message_id + "~copy1"
    assert json.loads(letters[3].body)["lines"][0]["quantity"] == 4
    with pytest.raises(json.JSONDecodeError):
        json.loads(letters[4].body)
    assert plan.session_ids == {"web-7", "bus-7", "broken-7"}
    assert message_id(post.order) in plan.message_ids


def test_two_runs_use_different_orders() -> None:
    assert not story("1").session_ids & story("2").session_ids


def test_a_changed_order_differs_in_one_quantity_alone() -> None:
    for order in ORDERS:
        other = changed(order)
        assert request_hash(other) != request_hash(order)
        lines, other_lines = order["lines"], other["lines"]
        assert isinstance(lines, list)
        assert isinstance(other_lines, list)
        assert other_lines[1:] == lines[1:]
        assert {**other, "lines": lines} == order
