import json
from pathlib import Path

import pytest

from samples.addresses import CONTAINER, DATABASE, QUEUE, Addresses, DemoError

TOPOLOGY = Path(__file__).parents[2] / "infra" / "topology.json"
ENVIRONMENT = {
    "ServiceBusConnection": "Endpoint=sb://127.0.0.1;SharedAccessKey=secret-a;",
    "CosmosConnection": "AccountEndpoint=http://127.0.0.1/;AccountKey=secret-b;",
    "FUNCTIONS_URL": "http://127.0.0.1:7071",
    "FUNCTIONS_KEY": "secret-c",
}


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(DemoError, match="lacks CosmosConnection, FUNCTIONS_KEY"):
        Addresses.from_environment(ENVIRONMENT | {"CosmosConnection": "", "FUNCTIONS_KEY": ""})


def test_secrets_are_not_printed() -> None:
    addresses = Addresses.from_environment(ENVIRONMENT)
    assert addresses.functions_key == "secret-c"
    assert "secret" not in repr(addresses)


def test_names_are_those_of_the_topology() -> None:
    topology = json.loads(TOPOLOGY.read_text(encoding="utf-8"))
    assert QUEUE in topology["serviceBus"]["queues"]
    assert topology["cosmos"]["database"] == DATABASE
    assert CONTAINER in topology["cosmos"]["containers"]
