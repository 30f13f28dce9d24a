"""The local stack with the app to be measured, and with the queues and containers that this one has more."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running_stack import Stack, deployed_app, running_stack

_APPS = Path(__file__).with_name("apps")


@contextmanager
def measured_stack(*, sessions_max: int | None = None, idle_seconds: float | None = None) -> Iterator[Stack]:
    """Start it on free ports, in a folder of its own.

    Args:
        sessions_max: maxConcurrentSessions; by default host.json's.
        idle_seconds: sessionIdleTimeout; by default host.json's.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        app = deployed_app(Path(folder) / "app")
        shutil.copy(_APPS / "measured.py", app / "function_app.py")
        _extend_topology(app / "infra" / "topology.json")
        _set_sessions(app / "host.json", sessions_max, idle_seconds)
        with running_stack(app) as stack:
            yield stack


def _extend_topology(path: Path) -> None:
    topology = json.loads(path.read_text(encoding="utf-8"))
    queues, containers = topology["serviceBus"]["queues"], topology["cosmos"]["containers"]
    queues |= {"empty": queues["orders"], "points": queues["orders"]}
    containers["loyalty"] = {**containers["orders"], "partitionKey": "/customerId"}
    path.write_text(json.dumps(topology), encoding="utf-8")


def _set_sessions(path: Path, sessions_max: int | None, idle_seconds: float | None) -> None:
    host = json.loads(path.read_text(encoding="utf-8"))
    service_bus = host["extensions"]["serviceBus"]
    if sessions_max is not None:
        service_bus["maxConcurrentSessions"] = sessions_max
    if idle_seconds is not None:
        service_bus["sessionIdleTimeout"] = f"00:00:{idle_seconds:06.3f}"
    path.write_text(json.dumps(host), encoding="utf-8")
