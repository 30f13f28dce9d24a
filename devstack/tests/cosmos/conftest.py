"""The emulator as users run it (a process of its own), stores in memory, and the real SDK's clients."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp.test_utils import TestServer
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient, DatabaseProxy

from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.topology import parse_topology
from devstack.cosmos.wire.gateway import Gateway
from devstack.tests.cosmos.caller import KEY, Caller
from devstack.tests.cosmos.environment import ROOT, TOPOLOGY, Emulator, ManualClock, StartEmulator


@pytest.fixture(scope="session")
def topology_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("topology") / "topology.json"
    path.write_text(json.dumps(TOPOLOGY), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def start_emulator(topology_file: Path) -> Iterator[StartEmulator]:
    started: list[Emulator] = []

    def start(*options: str) -> Emulator:
        command = [sys.executable, "-m", "devstack.cosmos", "--topology", str(topology_file), *options]
        process = subprocess.Popen(  # noqa: S603 - our own module
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
        )
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        assert line["ready"] is True
        emulator = Emulator(process, line["port"], line["connectionString"], line.get("control", ""))
        started.append(emulator)
        return emulator

    yield start
    for emulator in started:
        if emulator.process.poll() is None:
            emulator.kill()
        assert emulator.process.stdout is not None
        emulator.process.stdout.close()


@pytest.fixture(scope="module")
def emulator(start_emulator: StartEmulator) -> Emulator:
    return start_emulator()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def database(emulator: Emulator) -> AsyncIterator[DatabaseProxy]:
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient.from_connection_string(emulator.connection_string, transport=transport) as client:
        yield client.get_database_client("shop")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> Iterator[Store]:
    opened = Store(parse_topology(TOPOLOGY), clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def orders(store: Store) -> Container:
    return next(container for container in store.catalogue.containers if container.name == "orders")


@pytest.fixture
async def call(store: Store) -> AsyncIterator[Caller]:
    async with TestServer(Gateway(store, KEY).application()) as server, aiohttp.ClientSession() as session:
        assert server.port is not None
        yield Caller(session, server.port)
