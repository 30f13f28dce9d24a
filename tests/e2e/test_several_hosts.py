"""Hosts side by side and one after the other: what one has begun, another may end."""

import signal
from pathlib import Path

from samples.request_hash import message_id
from tests.e2e.apps import slow_app
from tests.e2e.hosts import backends, host
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside, request
from tests.running_stack import until

PATIENT = {"STORE_CALL_SECONDS": "60", "TRY_SECONDS": "60", "RETRY_WAIT_SECONDS_MAX": "0.1"}
"""Limits longer than the slow commits of these tests, and short waits before a redelivery's try."""


def placed_once(outside: Outside, order_ids: list[str]) -> bool:
    """Whether every order is there, with one event, and nothing else."""
    return all(sorted(outside.partition(order_id)) == [order_id, "out:1"] for order_id in order_ids)


def test_a_function_that_outlasts_the_idle_time_keeps_its_session_from_the_other_host(tmp_path: Path) -> None:
    # Idle time 0.1 s, a commit of 1 s: counted from the receipt, every session would move on in the middle.
    app = slow_app(tmp_path, queue={})
    names = [f"long-{number}" for number in range(6)]
    with (
        backends(app) as outside,
        host(outside, "a", PATIENT | {"COMMIT_SECONDS": "1"}) as first,
        host(outside, "b", PATIENT | {"COMMIT_SECONDS": "1"}) as second,
    ):
        for placed in map(order, names):
            outside.send(message(placed), message(placed, "copy1"), message(changed(placed)))
        until(lambda: len(outside.dead_letters()) == len(names), "the mismatches", 60)
        until(lambda: outside.left_in_queue(names) == 0, "an empty queue", 60)
        assert placed_once(outside, names)
        letters = outside.dead_letters()
        assert set(letters) == {message_id(changed(order(name))) for name in names}
        assert {(letter.reason, letter.delivery_count) for letter in letters.values()} == {("RequestHashMismatch", 0)}
        assert first.started + second.started == 3 * len(names)


def test_what_a_stopping_host_cuts_off_is_placed_by_the_other(tmp_path: Path) -> None:
    # A stopping host gives its functions 10 s; these commits take longer, and are neither completed nor abandoned.
    app = slow_app(tmp_path, queue={"lockDuration": "PT5S"})
    names = [f"cut-{number}" for number in range(12)]
    with backends(app) as outside:
        with host(outside, "a", PATIENT | {"COMMIT_SECONDS": "30"}) as stopping:
            outside.send(*(message(order(name)) for name in names))
            until(lambda: stopping.started == len(names), "all in flight")
            with host(outside, "b", PATIENT | {"COMMIT_SECONDS": "0"}) as other:
                stopping.part.process.send_signal(signal.SIGTERM)
                assert stopping.part.process.wait(30) == 0
                until(lambda: other.started == len(names), "all taken over", 30)
                until(lambda: outside.left_in_queue(names) == 0, "an empty queue")
        assert placed_once(outside, names)
        assert outside.dead_letters() == {}


def test_dead_slots_hold_up_their_messages_until_the_host_is_started_again(tmp_path: Path) -> None:
    app = slow_app(tmp_path, queue={}, service_bus={"maxConcurrentSessions": 2})
    names = ["dead-1", "dead-2"]
    settings = PATIENT | {"COMMIT_SECONDS": "1"}
    with backends(app) as outside:
        for placed in map(order, names):
            outside.send(message(placed), message(placed, "copy1"), message(changed(placed)))
        with host(outside, "a", settings, "--control-port", "0") as sick:
            until(lambda: sick.started == 2, "both slots busy")
            sick.ask_for({"type": "deadSlots"})
            until(lambda: sick.log.count("ServiceBusReceiver has already been closed") >= 6, "3 s of dead slots")
            # What an alert must see from outside: heads that do not move, while the host looks healthy.
            assert sick.started == 2
            assert outside.left_in_queue(names) == 6
            assert request(sick.env, "GET", "/api/health/live", keyed=False).status == 200
        with host(outside, "b", settings) as healthy:
            until(lambda: len(outside.dead_letters()) == 2, "the mismatches")
            until(lambda: outside.left_in_queue(names) == 0, "an empty queue")
            assert healthy.started == 6
        assert placed_once(outside, names)
        assert set(outside.dead_letters()) == {message_id(changed(order(name))) for name in names}
