"""Items of one logical partition inside one transaction."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from devstack.cosmos.json_values import JsonObject, write_json
from devstack.cosmos.store.catalogue import Container, new_etag
from devstack.cosmos.store.rids import RandomBytes, item_rid


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as it is stored and sent: ``body`` is its JSON, system properties included.

    ``number`` rises with every item that is created in the container, and stays through replaces.
    """

    id: str
    number: int
    etag: str
    body: bytes


class Partition:
    """Reads and writes of one logical partition; valid only inside the store's transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        container: Container,
        partition_key: str,
        clock: Callable[[], datetime],
        random_bytes: RandomBytes,
    ) -> None:
        self.container = container
        self.partition_key = partition_key
        self._connection = connection
        self._clock = clock
        self._random_bytes = random_bytes
        self._lsn: int | None = None

    def find(self, item_id: str) -> StoredItem | None:
        """The item with that id, or None."""
        if not _is_text(item_id):
            return None
        row = self._connection.execute(
            "SELECT id, number, etag, body FROM items WHERE container = ? AND partition_key = ? AND id = ?",
            (self.container.key, self.partition_key, item_id),
        ).fetchone()
        return StoredItem(*row) if row else None

    def insert(self, item_id: str, document: JsonObject) -> StoredItem:
        """Store a new item; the caller has checked that the id is free."""
        (number,) = self._connection.execute(
            "UPDATE containers SET last_item_number = last_item_number + 1 WHERE key = ? RETURNING last_item_number",
            (self.container.key,),
        ).fetchone()
        item = self._stamp(item_id, number, document)
        self._connection.execute(
            "INSERT INTO items (container, partition_key, id, number, etag, lsn, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self.container.key,
                self.partition_key,
                item.id,
                item.number,
                item.etag,
                self._take_lsn(),
                item.body,
            ),
        )
        return item

    def overwrite(self, stored: StoredItem, document: JsonObject) -> StoredItem:
        """Give a stored item a new content, with a new ETag and time."""
        item = self._stamp(stored.id, stored.number, document)
        self._connection.execute(
            "UPDATE items SET etag = ?, lsn = ?, body = ? WHERE container = ? AND number = ?",
            (item.etag, self._take_lsn(), item.body, self.container.key, item.number),
        )
        return item

    def remove(self, stored: StoredItem) -> None:
        """Delete a stored item."""
        self._connection.execute(
            "DELETE FROM items WHERE container = ? AND number = ?", (self.container.key, stored.number)
        )
        self._take_lsn()

    def _take_lsn(self) -> int:
        """The transaction's log sequence number, one for all its writes, deletes included."""
        if self._lsn is None:
            (self._lsn,) = self._connection.execute(
                "UPDATE containers SET lsn = lsn + 1 WHERE key = ? RETURNING lsn", (self.container.key,)
            ).fetchone()
        return self._lsn

    def _stamp(self, item_id: str, number: int, document: JsonObject) -> StoredItem:
        rid = item_rid(self.container.rid, number)
        etag = new_etag(self._random_bytes)
        body = write_json(
            document
            | {
                "_rid": rid,
                "_self": f"{self.container.link}docs/{rid}/",
                "_etag": etag,
                "_attachments": "attachments/",
                "_ts": int(self._clock().timestamp()),
            }
        )
        return StoredItem(item_id, number, etag, body)


def _is_text(item_id: str) -> bool:
    """Whether an id can be stored at all: a lone surrogate has no UTF-8, so no item bears it."""
    try:
        item_id.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
