"""The part of the topology file that names the database and its containers, with local overrides applied."""

import json
from dataclasses import dataclass
from pathlib import Path


class TopologyError(Exception):
    """The topology file cannot be used; the message names the file, the field and the rule."""


@dataclass(frozen=True, slots=True)
class Indexing:
    """Paths in Cosmos DB's notation (``/*``, ``/status/?``); the more precise path wins."""

    included: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """One container; ``partition_key`` is a path, ``default_ttl`` in seconds (-1: per item; None: off)."""

    name: str
    partition_key: str
    partition_key_version: int
    default_ttl: int | None
    indexing: Indexing


@dataclass(frozen=True, slots=True)
class Topology:
    """The database's name and its containers."""

    database: str
    containers: tuple[ContainerSettings, ...]


def read_topology(path: Path) -> Topology:
    """Read the ``cosmos`` section of a topology file.

    Raises:
        TopologyError: the file is missing, is not JSON, or a field breaks a rule.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read ({error.strerror}); name the topology file") from error
    except ValueError as error:
        raise TopologyError(f"{path}: not valid JSON ({error})") from error
    try:
        return parse_topology(document)
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from error


def parse_topology(document: object) -> Topology:
    """Check the ``cosmos`` section of a topology document.

    Raises:
        TopologyError: a field breaks a rule.
    """
    cosmos = _object(_object(document, "the document").get("cosmos"), "cosmos")
    containers = _object(cosmos.get("containers"), "cosmos.containers")
    return Topology(
        database=_name(cosmos.get("database"), "cosmos.database"),
        containers=tuple(_container(name, settings) for name, settings in containers.items()),
    )


def _container(name: str, value: object) -> ContainerSettings:
    where = f"cosmos.containers.{name}"
    declared = _object(value, where)
    settings = declared | _object(declared.get("local", {}), f"{where}.local")
    partition_key = settings.get("partitionKey")
    if not isinstance(partition_key, str) or len(partition_key) < 2 or not partition_key.startswith("/"):
        raise TopologyError(f"{where}.partitionKey must be a path such as /orderId")
    # Version 2 hashes the whole key; only very old containers are version 1.
    if settings.get("partitionKeyVersion", 2) != 2:
        raise TopologyError(f"{where}.partitionKeyVersion must be 2")
    indexing = _object(settings.get("indexing", {}), f"{where}.indexing")
    return ContainerSettings(
        name=_name(name, where),
        partition_key=partition_key,
        partition_key_version=2,
        default_ttl=_time_to_live(settings.get("defaultTtl"), f"{where}.defaultTtl"),
        indexing=Indexing(
            included=_paths(indexing.get("included", []), f"{where}.indexing.included"),
            excluded=_paths(indexing.get("excluded", []), f"{where}.indexing.excluded"),
        ),
    )


def _time_to_live(value: object, where: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or (value < 1 and value != -1):
        raise TopologyError(f"{where} must be -1 or a positive number of seconds")
    return value


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TopologyError(f"{where} must be an object")
    return value


def _name(value: object, where: str) -> str:
    if not isinstance(value, str) or not value or any(character in "/\\?#" for character in value):
        raise TopologyError(f"{where} must be a name without / \\ ? #")
    return value


def _paths(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(path, str) and path.startswith("/") for path in value):
        raise TopologyError(f"{where} must be a list of paths such as /* or /status/?")
    return tuple(value)
