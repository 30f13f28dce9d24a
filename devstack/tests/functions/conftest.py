import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from devstack.tests.functions.broker import QUEUES, BrokerProcess, Queue, write_topology
from devstack.tests.functions.running_host import HOST_JSON, RunningHost, until, write_app

type StartHost = Callable[..., RunningHost]
type StartSessionHost = Callable[..., "SessionHost"]

SESSION_APP = Path(__file__).parent / "session_app" / "function_app.py"


@pytest.fixture
def start_host(tmp_path: Path) -> Iterator[StartHost]:
    """Start hosts that end with the test."""
    started: list[RunningHost] = []

    def start(
        function_app: str,
        host_json: Mapping[str, object] = HOST_JSON,
        settings: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> RunningHost:
        app = write_app(tmp_path / f"app{len(started)}", function_app, host_json)
        host = RunningHost.start(app, tmp_path / f"host{len(started)}.log", settings or {}, *options)
        started.append(host)
        return host

    yield start
    for host in started:
        host.discard()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """An emulator for all tests."""
    directory = tmp_path_factory.mktemp("broker")
    process = BrokerProcess.start(write_topology(directory / "topology.json"), directory / "broker.log")
    yield process
    process.kill()


@pytest.fixture(scope="session")
def _queue_names() -> Iterator[str]:
    return iter(QUEUES)


@pytest.fixture
def queue(broker: BrokerProcess, _queue_names: Iterator[str]) -> Queue:
    """A queue that no other test uses."""
    return Queue(broker.connection_string, next(_queue_names))


@dataclass(frozen=True)
class Run:
    """One start or end of the session app's function."""

    at: str
    id: str
    session: str
    count: int
    sequence: int
    locked: bool
    worker: int
    answer: str | None = None


@dataclass(frozen=True)
class SessionHost:
    """A host with the session app."""

    host: RunningHost
    runs_path: Path
    gate_path: Path

    def runs(self, at: str | None = None) -> list[Run]:
        """What has run so far, in order."""
        runs = [Run(**json.loads(line)) for line in self.runs_path.read_text().splitlines()]
        return [run for run in runs if at in (None, run.at)]

    def wait_for(self, at: str, count: int, seconds: float = 20.0) -> list[Run]:
        """Wait for ``count`` starts or ends."""
        return until(
            lambda: runs if len(runs := self.runs(at)) >= count else None,
            f"{count} of {at!r}; there are {self.runs()}; the log is\n{self.host.log}",
            seconds,
        )

    def open_gate(self) -> None:
        """Let every waiting function return."""
        self.gate_path.touch()


@pytest.fixture
def start_session_host(start_host: StartHost, tmp_path: Path) -> StartSessionHost:
    """Start a host with the session app on a queue."""
    numbers = itertools.count()

    def start(queue: Queue, connection_string: str, options: Sequence[str] = (), **service_bus: object) -> SessionHost:
        number = next(numbers)
        runs_path, gate_path = tmp_path / f"runs{number}", tmp_path / f"gate{number}"
        runs_path.touch()
        settings = {
            "Bus": connection_string,
            "QUEUE": queue.name,
            "RUNS": str(runs_path),
            "GATE": str(gate_path),
        }
        host_json = {
            "version": "2.0",
            "extensions": {"serviceBus": {"sessionIdleTimeout": "00:00:00.200"} | service_bus},
        }
        host = start_host(SESSION_APP.read_text(), host_json, settings, options)
        return SessionHost(host, runs_path, gate_path)

    return start
