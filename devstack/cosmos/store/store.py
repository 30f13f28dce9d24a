"""The one writer: transactions over the SQLite database."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from devstack.cosmos.store.catalogue import Catalogue, Container, apply_topology
from devstack.cosmos.store.partition import Partition, StoredItem
from devstack.cosmos.store.rids import RandomBytes
from devstack.cosmos.store.schema import open_database
from devstack.cosmos.topology import Topology

type Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


class Store:
    """All data of one emulator. Calls are short and synchronous; one thread makes them.

    Attributes:
        catalogue: the databases and containers.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        path: Path | None = None,
        clock: Clock = utc_now,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        """Open the data file (None: in memory) and bring its containers in line with the topology.

        Raises:
            StoreError: the file cannot be used, or contradicts the topology.
        """
        self._clock = clock
        self._random_bytes = random_bytes
        self._connection = open_database(path)
        try:
            with self._transaction():
                self.catalogue: Catalogue = apply_topology(self._connection, topology, clock(), random_bytes)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the data file; nothing may be called afterwards."""
        self._connection.close()

    def last_lsn(self, container: Container) -> int:
        """The log sequence number of the container's last committed write; 0 if there was none."""
        (lsn,) = self._connection.execute("SELECT lsn FROM containers WHERE key = ?", (container.key,)).fetchone()
        return int(lsn)

    @contextmanager
    def partition(self, container: Container, partition_key: str) -> Iterator[Partition]:
        """Open one logical partition in a transaction: committed at the end, rolled back on any exception."""
        with self._transaction():
            yield Partition(self._connection, container, partition_key, self._clock, self._random_bytes)

    def read_feed(
        self, container: Container, partition_key: str | None, after_number: int, count_max: int
    ) -> list[StoredItem]:
        """Items after a number in the sequence of creation.

        ``partition_key`` None means all partitions, ``count_max`` -1 all items.
        """
        # Two statements, so that each has its own index.
        of_partition = "" if partition_key is None else " AND partition_key = :key"
        rows = self._connection.execute(
            "SELECT id, number, etag, body FROM items"  # noqa: S608 - a constant; the values are parameters
            f" WHERE container = :container{of_partition} AND number > :after ORDER BY number LIMIT :count",
            {"container": container.key, "key": partition_key, "after": after_number, "count": count_max},
        )
        return [StoredItem(*row) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors, a full disk among them.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
