"""``python -m devstack.cosmos``: its line, its ends, its errors, and a crash."""

import base64
import contextlib
import http.client
import itertools
import json
import socket
import subprocess
import sys
import threading
from email.utils import formatdate
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient

from devstack.cosmos.wire.auth import authorization_header
from devstack.tests.cosmos.environment import ROOT, Emulator, StartEmulator

KEY = base64.b64encode(b"k" * 64).decode()
BATCH_SIZE = 5


def failure(*options: str) -> str:
    """Run a start that must fail with exit code 1 and one line; returns the line."""
    command = [sys.executable, "-m", "devstack.cosmos", *options]
    done = subprocess.run(  # noqa: S603 - our own module
        command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def test_it_says_where_it_is_and_ends_cleanly(start_emulator: StartEmulator) -> None:
    emulator = start_emulator("--key", KEY)
    assert emulator.connection_string == f"AccountEndpoint=http://127.0.0.1:{emulator.port}/;AccountKey={KEY};"
    assert emulator.stop() == 0
    assert emulator.process.stdout is not None
    assert emulator.process.stdout.read() == ""


def test_keys_are_random_unless_given(start_emulator: StartEmulator) -> None:
    first, second = start_emulator(), start_emulator()
    assert first.connection_string.split("AccountKey=")[1] != second.connection_string.split("AccountKey=")[1]
    first.stop()
    second.stop()


def test_a_taken_port_is_told_with_the_fix(topology_file: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        line = failure("--topology", str(topology_file), "--port", port)
    assert f"127.0.0.1:{port}" in line
    assert "choose another port (0: a free one)" in line


def test_a_data_file_in_use_is_told_with_the_fix(
    start_emulator: StartEmulator, topology_file: Path, tmp_path: Path
) -> None:
    data = str(tmp_path / "data.db")
    emulator = start_emulator("--data", data)
    line = failure("--topology", str(topology_file), "--data", data)
    assert "stop the emulator that has it open" in line
    assert emulator.stop() == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--topology", "missing.json"], "missing.json: cannot be read"),
        (["--topology", "TOPOLOGY", "--key", "not base64!"], "--key is not base64"),
        (["--topology", "TOPOLOGY", "--data", "missing/data.db"], "writable folder"),
    ],
)
def test_wrong_options_are_told_with_the_fix(topology_file: Path, options: list[str], words: str) -> None:
    assert words in failure(*[str(topology_file) if option == "TOPOLOGY" else option for option in options])


def test_the_projects_own_topology_is_accepted() -> None:
    command = [sys.executable, "-m", "devstack.cosmos", "--topology", "infra/topology.json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["ready"] is True
        process.terminate()
        assert process.wait(10) == 0


def test_a_crash_loses_nothing_that_was_acknowledged(start_emulator: StartEmulator, tmp_path: Path) -> None:
    data = str(tmp_path / "data.db")
    emulator = start_emulator("--key", KEY, "--data", data)
    with CosmosClient.from_connection_string(emulator.connection_string) as client:
        container = client.get_database_client("shop").get_container_client("orders")
        created = [container.create_item({"id": f"a{number}", "orderId": "p"}) for number in range(5)]
        acknowledged = batches_until_the_crash(emulator)
        start_emulator("--key", KEY, "--data", data, "--port", str(emulator.port))
        # The same client goes on: rids and session tokens still hold.
        found = list(container.query_items("SELECT * FROM c", partition_key="p"))
    assert found[:5] == created
    ids = [item["id"] for item in found[5:]]
    assert set(acknowledged) <= set(ids)
    # The batch in flight is there as a whole or not at all.
    assert len(ids) % BATCH_SIZE == 0
    assert len(ids) - len(acknowledged) in (0, BATCH_SIZE)


def batches_until_the_crash(emulator: Emulator) -> list[str]:
    """Write batch after batch, kill the emulator while it writes; returns the acknowledged ids."""
    acknowledged: list[str] = []
    enough = threading.Event()

    def write() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", emulator.port, timeout=10)
        link = "dbs/shop/colls/orders"
        date = formatdate(usegmt=True)
        headers = {
            "x-ms-date": date,
            "Authorization": authorization_header(base64.b64decode(KEY), "POST", "docs", link, date),
            "x-ms-documentdb-partitionkey": '["p"]',
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": "True",
        }
        with contextlib.closing(connection), contextlib.suppress(http.client.HTTPException, OSError):
            for number in itertools.count():
                ids = [f"{number}-{part}" for part in range(BATCH_SIZE)]
                operations = [
                    {"operationType": "Create", "resourceBody": {"id": item_id, "orderId": "p"}} for item_id in ids
                ]
                connection.request("POST", f"/{link}/docs/", json.dumps(operations), headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 200
                acknowledged.extend(ids)
                if len(acknowledged) >= 20 * BATCH_SIZE:
                    enough.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert enough.wait(20)
    emulator.kill()
    writer.join(20)
    assert not writer.is_alive()
    return acknowledged
