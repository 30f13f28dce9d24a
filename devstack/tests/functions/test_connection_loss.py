"""The listener finds its way back to the broker, and settings that lead nowhere are said."""

import os
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.tests.functions.broker import QUEUES, BrokerProcess, Queue, write_topology
from devstack.tests.functions.conftest import SESSION_APP, StartSessionHost
from devstack.tests.functions.running_host import command, write_app


class RestartableBroker:
    """A broker that comes back on its port, empty."""

    def __init__(self, directory: Path) -> None:
        self._topology = write_topology(directory / "topology.json")
        self._log = directory / "broker.log"
        self.process = BrokerProcess.start(self._topology, self._log)

    def restart(self) -> None:
        self.process = BrokerProcess.start(self._topology, self._log, self.process.port)


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[RestartableBroker]:
    broker = RestartableBroker(tmp_path)
    yield broker
    broker.process.kill()


def test_slots_recover_from_a_lost_connection_busy_ones_too(
    own_broker: RestartableBroker, start_session_host: StartSessionHost
) -> None:
    connection_string = own_broker.process.connection_string
    queue = Queue(connection_string, QUEUES[0])
    app = start_session_host(queue, connection_string, maxConcurrentSessions=2)
    queue.send(("a", "a1", "wait"))
    app.wait_for("start", 1)
    own_broker.process.kill()
    own_broker.restart()
    app.open_gate()
    app.wait_for("end", 1)
    queue.send(*((session, session, "sleep 3.5") for session in "bc"))
    app.wait_for("end", 3)
    # Both slots work: the two sessions ran at once.
    assert [run.at for run in app.runs()[2:]] == ["start", "start", "end", "end"]


def test_busy_slots_die_with_their_connection_when_a_test_asks_for_it(
    broker: BrokerProcess, queue: Queue, start_session_host: StartSessionHost
) -> None:
    options = ("--control-port", "0")
    app = start_session_host(queue, broker.connection_string, options, maxConcurrentSessions=2)
    queue.send(("a", "a1", "wait"), ("b", "b1", "wait"))
    app.wait_for("start", 2)
    rule = b'{"fault":{"type":"deadSlots"}}'
    with urllib.request.urlopen(f"{app.host.control}/faults", rule) as answer:  # noqa: S310 - loopback
        assert answer.status == 204
    app.open_gate()
    app.wait_for("end", 2)
    # The broker gives both messages back, and nobody takes them, though the host looks healthy.
    app.host.wait_for_log("ServiceBusReceiver has already been closed", times=4)
    assert len(app.runs("start")) == 2
    assert app.host.worker_pid() > 0
    assert app.host.stop() == 0
    after = start_session_host(queue, broker.connection_string)
    again = after.wait_for("start", 2)
    assert sorted((run.id, run.count) for run in again) == [("a1", 2), ("b1", 2)]


def test_a_broker_that_is_down_at_the_start_is_waited_for(
    own_broker: RestartableBroker, start_session_host: StartSessionHost
) -> None:
    connection_string = own_broker.process.connection_string
    queue = Queue(connection_string, QUEUES[0])
    own_broker.process.kill()
    later = threading.Timer(1.5, own_broker.restart)
    later.start()
    app = start_session_host(queue, connection_string)
    later.join()
    queue.send(("a", "a1", "return"))
    app.wait_for("end", 1)
    assert app.host.log.count("Connection to Service Bus: ConnectionLost") == 1


def test_a_missing_queue_is_said_once_and_http_is_served(
    broker: BrokerProcess, start_session_host: StartSessionHost
) -> None:
    app = start_session_host(Queue(broker.connection_string, "missing"), broker.connection_string)
    app.host.wait_for_log("Queue missing: EntityNotFound")
    assert app.host.worker_pid() > 0
    assert app.host.log.count("EntityNotFound") == 1


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"QUEUE": "q"}, "function work: app setting Bus is missing"),
        ({"Bus": "Endpoint=sb://x"}, "function work: app setting QUEUE is missing"),
        ({"QUEUE": "q", "Bus": "SharedAccessKey=secret"}, "Endpoint"),
    ],
)
def test_settings_that_lead_nowhere(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    app = write_app(tmp_path, SESSION_APP.read_text())
    environment = {name: value for name, value in os.environ.items() if name not in {"Bus", "QUEUE"}}
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        command(app), env=environment | settings, capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("devstack.functions: ")
    assert named in ended.stderr
    assert "secret" not in ended.stderr
