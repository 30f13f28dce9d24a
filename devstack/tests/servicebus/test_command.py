"""The emulator as a command."""

import json
import signal
import socket
from pathlib import Path

import pytest

from devstack.servicebus.client import Connection
from devstack.tests.servicebus.conftest import Command


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_until_a_signal(command: Command, number: signal.Signals) -> None:
    process = command("--key", "secret-key")
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    port = ready["port"]
    assert ready == {
        "ready": True,
        "port": port,
        "connectionString": f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=secret-key;UseDevelopmentEmulator=true;",
    }
    connection = await Connection.open(ready["connectionString"])
    assert await connection.accept_session("orders", timeout_seconds=0.01) is None
    process.send_signal(number)
    await connection.closed.wait()
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, output) == (0, "")
    assert "secret-key" not in errors
    assert "Traceback" not in errors


def test_the_key_is_fresh_at_every_start(command: Command) -> None:
    processes = [command(), command()]
    lines = [json.loads(process.stdout.readline()) for process in processes if process.stdout is not None]
    keys = {line["connectionString"].split("SharedAccessKey=")[1] for line in lines}
    assert len(keys) == 2


def test_a_taken_port_is_an_error_with_its_fix(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = command("--port", str(port))
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (1, "")
    (line,) = errors.splitlines()
    assert f"127.0.0.1:{port}" in line
    assert "choose another port (0: a free one)" in line


def test_a_bad_topology_is_an_error_that_names_the_place(command: Command, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"serviceBus": {"queues": {"orders": {"lockDuration": "soon"}}}}')
    process = command(topology_file=broken)
    output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (1, "")
    (line,) = errors.splitlines()
    assert "serviceBus.queues.orders.lockDuration" in line
