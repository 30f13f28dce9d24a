import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from devstack.cosmos.items.execute import execute
from devstack.cosmos.items.operations import Create
from devstack.cosmos.store.schema import StoreError
from devstack.cosmos.store.store import Store
from devstack.cosmos.topology import TopologyError, parse_topology, read_topology
from devstack.tests.cosmos.environment import TOPOLOGY


@contextmanager
def opened(path: Path, topology: dict[str, Any] = TOPOLOGY) -> Iterator[Store]:
    with closing(Store(parse_topology(topology), path=path)) as store:
        yield store


def changed(**orders: object) -> dict[str, Any]:
    topology: dict[str, Any] = deepcopy(TOPOLOGY)
    topology["cosmos"]["containers"]["orders"] |= orders
    return topology


def test_items_rids_and_lsns_outlive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with opened(path) as store:
        before = store.catalogue
        orders = before.containers[0]
        with store.partition(orders, '"p"') as partition:
            body = execute(partition, Create(document={"id": "1", "orderId": "p"})).body
    with opened(path) as store:
        assert store.catalogue == before
        assert store.last_lsn(orders) == 1
        with store.partition(orders, '"p"') as partition:
            found = partition.find("1")
        assert found is not None
        assert found.body == body


def test_a_second_process_is_refused_with_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with opened(path), pytest.raises(StoreError, match="stop the emulator that has it open"):
        Store(parse_topology(TOPOLOGY), path=path)
    with opened(path):
        pass


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    path.write_text("not a database, but longer than its header" * 10)
    with pytest.raises(StoreError, match=r"data\.db"):
        Store(parse_topology(TOPOLOGY), path=path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="writable folder"):
        Store(parse_topology(TOPOLOGY), path=tmp_path / "missing" / "data.db")


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="schema version 99"):
        Store(parse_topology(TOPOLOGY), path=path)


def test_settings_follow_the_topology_and_the_partition_key_cannot(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with opened(path) as store:
        rid = store.catalogue.containers[0].rid
    with opened(path, changed(defaultTtl=60)) as store:
        assert store.catalogue.containers[0].settings.default_ttl == 60
        assert store.catalogue.containers[0].rid == rid
    with pytest.raises(StoreError, match="/orderId, the topology /other"):
        Store(parse_topology(changed(partitionKey="/other")), path=path)


def test_local_values_override() -> None:
    topology = parse_topology(changed(defaultTtl=60, local={"defaultTtl": 5}))
    assert topology.containers[0].default_ttl == 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"partitionKey": "orderId"}, r"orders\.partitionKey"),
        ({"partitionKey": None}, r"orders\.partitionKey"),
        ({"partitionKeyVersion": 1}, r"orders\.partitionKeyVersion"),
        ({"defaultTtl": 0}, r"orders\.defaultTtl"),
        ({"defaultTtl": True}, r"orders\.defaultTtl"),
        ({"indexing": {"included": "/*"}}, r"orders\.indexing\.included"),
        ({"indexing": {"excluded": ["n"]}}, r"orders\.indexing\.excluded"),
        ({"local": []}, r"orders\.local"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, object], words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        parse_topology(changed(**settings))


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"cosmos": {"database": "a/b", "containers": {}}},
        {"cosmos": {"database": "d", "containers": {"a#": {}}}},
    ],
)
def test_a_topology_without_a_database_is_refused(document: object) -> None:
    with pytest.raises(TopologyError):
        parse_topology(document)


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "topology.json"
    with pytest.raises(TopologyError, match=r"topology\.json: cannot be read"):
        read_topology(path)
    path.write_text("{")
    with pytest.raises(TopologyError, match=r"topology\.json: not valid JSON"):
        read_topology(path)
