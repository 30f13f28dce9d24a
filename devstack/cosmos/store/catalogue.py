"""Databases and containers: made from the topology, found by name or by rid."""

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime

from devstack.cosmos.store.rids import RandomBytes, new_container_rid, new_database_rid
from devstack.cosmos.store.schema import StoreError
from devstack.cosmos.topology import ContainerSettings, Indexing, Topology


@dataclass(frozen=True, slots=True)
class Database:
    """One database; ``timestamp`` in seconds since the epoch."""

    name: str
    rid: str
    etag: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class Container:
    """One container and its settings; ``key`` is the store's own number for it."""

    key: int
    database: Database
    rid: str
    etag: str
    timestamp: int
    settings: ContainerSettings

    @property
    def name(self) -> str:
        """The container's id."""
        return self.settings.name

    @property
    def link(self) -> str:
        """The path by rids, as in ``_self``: ``dbs/<rid>/colls/<rid>/``."""
        return f"dbs/{self.database.rid}/colls/{self.rid}/"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What the store holds; both SDK families address it, Python by names and .NET by names and rids."""

    databases: tuple[Database, ...]
    containers: tuple[Container, ...]

    def database(self, name_or_rid: str) -> Database | None:
        """The database of that name or rid."""
        return next((entry for entry in self.databases if name_or_rid in (entry.name, entry.rid)), None)

    def containers_of(self, database: Database) -> tuple[Container, ...]:
        """All containers of a database."""
        return tuple(entry for entry in self.containers if entry.database == database)

    def container(self, database: Database, name_or_rid: str) -> Container | None:
        """The container of that name or rid in the database."""
        return next((entry for entry in self.containers_of(database) if name_or_rid in (entry.name, entry.rid)), None)


def apply_topology(
    connection: sqlite3.Connection, topology: Topology, now: datetime, random_bytes: RandomBytes
) -> Catalogue:
    """Create what the topology names and the store lacks, update the settings of what it has, and load all.

    The caller holds the transaction. Containers that the topology no longer names stay.

    Raises:
        StoreError: a container exists with another partition key, which Cosmos DB cannot change either.
    """
    catalogue = _load(connection)
    timestamp = int(now.timestamp())
    if catalogue.database(topology.database) is None:
        connection.execute(
            "INSERT INTO databases (name, rid, etag, created_at) VALUES (?, ?, ?, ?)",
            (topology.database, new_database_rid(random_bytes), new_etag(random_bytes), timestamp),
        )
        catalogue = _load(connection)
    database = next(entry for entry in catalogue.databases if entry.name == topology.database)
    existing = {entry.name: entry for entry in catalogue.containers_of(database)}
    for settings in topology.containers:
        found = existing.get(settings.name)
        if found is None:
            rid = new_container_rid(database.rid, random_bytes)
            connection.execute(
                "INSERT INTO containers (database, name, rid, etag, created_at, settings) VALUES (?, ?, ?, ?, ?, ?)",
                (database.name, settings.name, rid, new_etag(random_bytes), timestamp, _dump(settings)),
            )
        elif found.settings.partition_key != settings.partition_key:
            raise StoreError(
                f"container {settings.name}: the data file has partition key {found.settings.partition_key}, "
                f"the topology {settings.partition_key}; delete the data file or name another"
            )
        elif found.settings != settings:
            connection.execute(
                "UPDATE containers SET settings = ?, etag = ? WHERE key = ?",
                (_dump(settings), new_etag(random_bytes), found.key),
            )
    return _load(connection)


def new_etag(random_bytes: RandomBytes) -> str:
    """A new ETag, quoted as in headers and in ``_etag``; never the same twice, restarts included."""
    digits = random_bytes(16).hex()
    return f'"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"'


def _load(connection: sqlite3.Connection) -> Catalogue:
    databases = {
        name: Database(name, rid, etag, timestamp)
        for name, rid, etag, timestamp in connection.execute("SELECT name, rid, etag, created_at FROM databases")
    }
    rows = connection.execute("SELECT key, database, rid, etag, created_at, settings FROM containers ORDER BY key")
    return Catalogue(
        databases=tuple(databases.values()),
        containers=tuple(
            Container(key, databases[database], rid, etag, timestamp, _parse(settings))
            for key, database, rid, etag, timestamp, settings in rows
        ),
    )


def _dump(settings: ContainerSettings) -> str:
    return json.dumps(asdict(settings))


def _parse(text: str) -> ContainerSettings:
    stored = json.loads(text)
    indexing = stored.pop("indexing")
    return ContainerSettings(**stored, indexing=Indexing(tuple(indexing["included"]), tuple(indexing["excluded"])))
