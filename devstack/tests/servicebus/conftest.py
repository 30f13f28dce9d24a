"""Brokers to test against: in this process on real or hand-moved time, on a thread, and as a command."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from devstack.servicebus.broker.settings import QueueSettings
from devstack.servicebus.connection_string import ConnectionString
from devstack.servicebus.server.listener import Server
from devstack.tests.servicebus.kit import KEY, ManualClock, queue
from devstack.tests.servicebus.raw_client import RawClient

REPOSITORY = Path(__file__).parents[3]


def queues() -> list[QueueSettings]:
    return [
        queue("orders", duplicate_window=timedelta(minutes=5)),
        queue("next"),
        queue("other"),
        queue("plain", requires_session=False, max_delivery_count=10),
        queue("small", requires_session=False, max_message_bytes=4096),
    ]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def broker() -> AsyncIterator[str]:
    """The connection string of a broker in this process, on real time."""
    server = Server(queues(), key=KEY)
    yield str(await server.start())
    await server.stop()


@dataclass
class SteppedBroker:
    """A broker whose time is moved by hand, for it alone: clients still live in real time."""

    server: Server
    clock: ManualClock
    target: ConnectionString

    @property
    def connection_string(self) -> str:
        return str(self.target)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.server.expire()


@pytest_asyncio.fixture
async def stepped() -> AsyncIterator[SteppedBroker]:
    # It starts at the real time, so that the tokens that clients sign are valid.
    clock = ManualClock(datetime.now(UTC))
    server = Server(queues(), key=KEY, clock=clock)
    yield SteppedBroker(server, clock, await server.start())
    await server.stop()


@pytest_asyncio.fixture
async def dotnet(stepped: SteppedBroker) -> AsyncIterator[RawClient]:
    """A client of the broker above that sends frames as it is told, in the shape of the .NET client's."""
    client = await RawClient.open(stepped.target)
    yield client
    client.close()


@pytest.fixture(scope="module")
def threaded() -> Iterator[str]:
    """The connection string of a broker on a thread of its own, for clients that block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> tuple[Server, str]:
        server = Server(queues(), key=KEY)
        return server, str(await server.start())

    server, connection_string = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    yield connection_string
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


type Command = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """Start the emulator as a process of its own; what still runs at the end is killed."""
    processes: list[subprocess.Popen[str]] = []
    topology = tmp_path / "topology.json"
    topology.write_text(json.dumps({"serviceBus": {"queues": {"orders": {"requiresSession": True}}}}))

    def start(*arguments: str, topology_file: Path = topology) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "devstack.servicebus", "--topology", str(topology_file), *arguments],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()
