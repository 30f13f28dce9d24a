"""The SQLite database: tables, durability, and the one process that may have it open."""

import sqlite3
from pathlib import Path
from typing import Final

SCHEMA_VERSION: Final = 2

_TABLES: Final = """
CREATE TABLE databases (
    name TEXT PRIMARY KEY,
    rid TEXT NOT NULL UNIQUE,
    etag TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE TABLE containers (
    key INTEGER PRIMARY KEY,
    database TEXT NOT NULL REFERENCES databases (name),
    name TEXT NOT NULL,
    rid TEXT NOT NULL UNIQUE,
    etag TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    settings TEXT NOT NULL,
    lsn INTEGER NOT NULL DEFAULT 0,
    last_item_number INTEGER NOT NULL DEFAULT 0,
    UNIQUE (database, name)
);
CREATE TABLE items (
    container INTEGER NOT NULL REFERENCES containers (key),
    partition_key TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    etag TEXT NOT NULL,
    lsn INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (container, partition_key, id)
);
CREATE UNIQUE INDEX items_by_number ON items (container, number);
CREATE INDEX items_of_partition ON items (container, partition_key, number);
"""


class StoreError(Exception):
    """The data file cannot be used; the message names the file and the fix."""


def open_database(path: Path | None) -> sqlite3.Connection:
    """Open the data file, or a database in memory if there is none, and create the tables in a new one.

    A commit that was acknowledged outlives a crash of the process: it is in the write-ahead log, which the
    operating system holds. A loss of power may take the last commits, never the file's consistency.

    Raises:
        StoreError: the file is open in another process, is no SQLite database, or has another schema version.
    """
    try:
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=0)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be opened ({error}); name a file in a writable folder") from error
    try:
        # Exclusive: two emulators on one file would each believe to be the only writer.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _create_or_check(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(
            f"{path}: cannot be used ({error}); stop the emulator that has it open, or name another file"
        ) from error
    except StoreError:
        connection.close()
        raise
    return connection


def _create_or_check(connection: sqlite3.Connection, path: Path | None) -> None:
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif version != SCHEMA_VERSION:
        raise StoreError(f"{path}: has schema version {version}, not {SCHEMA_VERSION}; delete it or name another file")
    connection.execute("COMMIT")
