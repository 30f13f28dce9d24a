"""The session trigger as measured on Azure Functions host 4.1037: real SDK, emulator and worker library."""

import os
import signal

from devstack.tests.functions.broker import MAX_DELIVERY_COUNT, QUICK_LOCK_QUEUE, BrokerProcess, Queue
from devstack.tests.functions.conftest import StartSessionHost
from devstack.tests.functions.running_host import until


def emptied(queue: Queue) -> bool:
    return until(lambda: not queue.left(), f"queue {queue.name} is empty")


def test_one_at_a_time_in_order_per_session(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    assert app.host.functions == ["work", "pid"]
    queue.send(*(("a", f"a{number}", "sleep 0.02") for number in range(5)))
    ends = app.wait_for("end", 5)
    assert [(run.at, run.id) for run in app.runs()] == [
        (at, f"a{number}") for number in range(5) for at in ("start", "end")
    ]
    assert all((run.session, run.count, run.locked) == ("a", 1, True) for run in ends)
    assert [run.sequence for run in ends] == sorted(run.sequence for run in ends)
    assert emptied(queue)


def test_sessions_run_in_parallel_up_to_the_slots(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string, maxConcurrentSessions=2)
    queue.send(*((session, session, "wait") for session in "abc"))
    assert {run.id for run in app.wait_for("start", 2)} <= {"a", "b", "c"}
    app.open_gate()
    assert {run.id for run in app.wait_for("end", 3)} == {"a", "b", "c"}
    order = [(run.at, run.id) for run in app.runs()]
    third = order.index(("start", {"a", "b", "c"}.difference(run.id for run in app.runs("start")[:2]).pop()))
    assert sum(at == "end" for at, _ in order[:third]) >= 1
    assert emptied(queue)


def test_a_raise_abandons_and_the_same_message_comes_again(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "raise once"), ("a", "a2", "return"))
    app.wait_for("end", 3)
    assert [(run.id, run.count) for run in app.runs("start")] == [("a1", 1), ("a1", 2), ("a2", 1)]
    assert "Executed 'Functions.work' (Failed, Id=" in app.host.log
    assert "Trigger Details: MessageId: a1, SequenceNumber: " in app.host.log
    assert ", DeliveryCount: 1, EnqueuedTimeUtc: " in app.host.log
    assert emptied(queue)


def test_too_many_deliveries_end_in_the_dead_letter_queue(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "raise"), ("a", "a2", "return"))
    app.wait_for("end", MAX_DELIVERY_COUNT + 1)
    counts = [(run.id, run.count) for run in app.runs("start")]
    assert counts == [*(("a1", count) for count in range(1, MAX_DELIVERY_COUNT + 1)), ("a2", 1)]
    (dead,) = queue.dead_letters(1)
    assert (dead.message_id, dead.dead_letter_reason) == ("a1", "MaxDeliveryCountExceeded")


def test_dead_lettering_by_the_settlement_service(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "dead-letter"), ("a", "a2", "dead-letter and raise"), ("a", "a3", "complete"))
    ends = app.wait_for("end", 3)
    assert [(run.id, run.count, run.answer) for run in ends] == [
        ("a1", 1, "OK b''"),
        ("a2", 1, "as asked, after dead-lettering"),
        ("a3", 1, "OK b''"),
    ]
    assert emptied(queue)
    dead = queue.dead_letters(2)
    assert [(message.message_id, message.dead_letter_reason) for message in dead] == [("a1", "Bad"), ("a2", "Bad")]
    assert dead[0].dead_letter_error_description == "as asked"


def test_a_token_is_known_only_while_its_function_runs(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    orders = ["unknown token", "settle the last one", "long reason"]
    queue.send(*(("a", order, order) for order in orders))
    answers = [run.answer or "" for run in app.wait_for("end", 3)]
    assert answers[0] == "FAILED_PRECONDITION: LockToken 00000000-0000-0000-0000-000000000001 not found."
    assert answers[1].startswith("FAILED_PRECONDITION: LockToken ")
    assert answers[2] == "UNKNOWN: deadLetterReason: at most 4096 characters, not 4097"
    assert emptied(queue)


def test_a_killed_worker_costs_every_message_in_flight_one_delivery(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "wait"), ("a", "a2", "return"), ("b", "b1", "wait"))
    first = app.wait_for("start", 2)[0].worker
    os.kill(first, signal.SIGKILL)
    again = app.wait_for("start", 4)[2:]
    assert {(run.id, run.count) for run in again} == {("a1", 2), ("b1", 2)}
    assert all(run.worker != first for run in again)
    app.open_gate()
    assert {(run.id, run.count) for run in app.wait_for("end", 3)} == {("a1", 2), ("b1", 2), ("a2", 1)}
    assert emptied(queue)


def test_a_killed_host_releases_its_sessions(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "wait"))
    app.wait_for("start", 1)
    app.host.process.kill()
    other = start_session_host(queue, broker.connection_string)
    other.open_gate()
    (end,) = other.wait_for("end", 1)
    assert end.id == "a1"
    assert emptied(queue)


def test_stop_finishes_the_message_in_hand_and_leaves_the_next(
    queue: Queue, broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "sleep 1"), ("a", "a2", "return"))
    app.wait_for("start", 1)
    assert app.host.stop() == 0
    assert [(run.at, run.id) for run in app.runs()] == [("start", "a1"), ("end", "a1")]
    assert queue.left() == ["a2"]


def test_the_lock_is_renewed_while_a_function_runs(broker: BrokerProcess, start_session_host: StartSessionHost) -> None:
    queue = Queue(broker.connection_string, QUICK_LOCK_QUEUE)
    app = start_session_host(queue, broker.connection_string)
    queue.send(("a", "a1", "sleep 6"))
    app.wait_for("end", 1)
    assert emptied(queue)
    assert [(run.at, run.count) for run in app.runs()] == [("start", 1), ("end", 1)]


def test_when_renewal_runs_out_the_same_message_runs_twice_at_once(
    broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    queue = Queue(broker.connection_string, QUICK_LOCK_QUEUE)
    app = start_session_host(queue, broker.connection_string, maxAutoLockRenewalDuration="00:00:00")
    queue.send(("b", "b1", "wait"))
    assert [run.count for run in app.wait_for("start", 2)] == [1, 2]
    assert not app.runs("end")
    app.open_gate()
    app.wait_for("end", 2)
    assert emptied(queue)
    # The first run's settlement came too late.
    app.host.wait_for_log("SessionLockLost")
