from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from devstack.tests.functions.running_host import HOST_JSON, RunningHost, write_app

type StartHost = Callable[..., RunningHost]


@pytest.fixture
def start_host(tmp_path: Path) -> Iterator[StartHost]:
    """Start hosts that end with the test."""
    started: list[RunningHost] = []

    def start(
        function_app: str,
        host_json: Mapping[str, object] = HOST_JSON,
        settings: Mapping[str, str] | None = None,
    ) -> RunningHost:
        app = write_app(tmp_path / f"app{len(started)}", function_app, host_json)
        host = RunningHost.start(app, tmp_path / f"host{len(started)}.log", settings or {})
        started.append(host)
        return host

    yield start
    for host in started:
        host.discard()
