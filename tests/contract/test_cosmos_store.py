"""The Cosmos DB store keeps the store contract, over the real SDK and real sockets."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from shared.cosmos.client import Database, open_client
from shared.cosmos.store import CosmosStore
from shared.settings import Settings
from tests.contract.store_contract import CASES, PARTITION_KEY, Case
from tests.contract.store_contract_batches import BATCH_CASES

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGY = {"cosmos": {"database": "ordering", "containers": {"orders": {"partitionKey": PARTITION_KEY}}}}


# aiohttp warns of every body over 1 MiB that the SDK hands over.
pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")


@pytest.fixture(scope="module")
def connection_string(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    topology = tmp_path_factory.mktemp("cosmos") / "topology.json"
    topology.write_text(json.dumps(TOPOLOGY), encoding="utf-8")
    command = [sys.executable, "-m", "devstack.cosmos", "--topology", str(topology)]
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=env) as process:  # noqa: S603
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["connectionString"]
        process.terminate()
        assert process.wait(10) == 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def store(connection_string: str) -> AsyncIterator[CosmosStore]:
    settings = Settings.from_env(
        {
            "CosmosConnection": connection_string,
            "ServiceBusConnection": "Endpoint=sb://unused;SharedAccessKeyName=unused;SharedAccessKey=unused",
        }
    )
    async with open_client(settings.cosmos, call_seconds=10) as client:
        yield CosmosStore(Database(client, settings.cosmos.database), "orders")


@pytest.mark.parametrize("case", [*CASES, *BATCH_CASES], ids=lambda case: case.__name__)
@pytest.mark.asyncio(loop_scope="module")
async def test_contract(case: Case, store: CosmosStore) -> None:
    await case(store, uuid.uuid4().hex)
