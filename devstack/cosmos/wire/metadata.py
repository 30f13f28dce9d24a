"""Account, databases, containers and partition key ranges: what an SDK reads before its first item."""

from devstack.cosmos.errors import method_not_allowed, owner_not_found
from devstack.cosmos.json_values import Json, JsonObject, write_json
from devstack.cosmos.store.catalogue import Container, Database
from devstack.cosmos.store.store import Store
from devstack.cosmos.wire.answers import Answer, feed_answer, resource_answer
from devstack.cosmos.wire.paths import ResourcePath, ResourceType


def account(endpoint: str) -> Answer:
    """The account; ``endpoint`` is the URL by which this client reached it, because the SDKs follow it.

    The id is not "localhost", or the JS SDK would read the account twice per operation.
    """
    location: JsonObject = {"name": "Local", "databaseAccountEndpoint": endpoint}
    return resource_answer(
        {
            "id": "local-stack",
            "_rid": "local-stack.documents",
            "_self": "",
            "_dbs": "//dbs/",
            "writableLocations": [location],
            "readableLocations": [location],
            "enableMultipleWriteLocations": False,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
            # A JSON object inside a string, and not an empty one: the .NET SDK parses it.
            "queryEngineConfiguration": '{"maxSqlQueryInputLength":262144}',
        }
    )


def find_database(store: Store, path: ResourcePath) -> Database:
    """The database that a path names.

    Raises:
        CosmosError: 404/1003.
    """
    database = store.catalogue.database(path.database or "")
    if database is None:
        raise owner_not_found(f"database {path.database}")
    return database


def find_container(store: Store, path: ResourcePath) -> Container:
    """The container that a path names.

    Raises:
        CosmosError: 404/1003, for its database as well.
    """
    container = store.catalogue.container(find_database(store, path), path.container or "")
    if container is None:
        raise owner_not_found(f"container {path.container}")
    return container


def read_metadata(store: Store, verb: str, path: ResourcePath) -> Answer:
    """Answer a read of databases or containers; both come from the topology file and cannot be written.

    Raises:
        CosmosError: 404/1003, or 405 for any verb but GET.
    """
    if path.database is not None:
        database = find_database(store, path)
        if path.container is not None:
            find_container(store, path)
    if verb != "GET":
        raise method_not_allowed("The local emulator takes databases and containers from the topology file alone.")
    if path.database is None:
        bodies = [write_json(_database_body(entry)) for entry in store.catalogue.databases]
        return feed_answer("", "Databases", bodies)
    if path.type is ResourceType.DATABASES:
        return resource_answer(_database_body(database))
    if path.container is None:
        bodies = [write_json(_container_body(entry)) for entry in store.catalogue.containers_of(database)]
        return feed_answer(database.rid, "DocumentCollections", bodies)
    return resource_answer(_container_body(find_container(store, path)))


def partition_key_ranges(container: Container, if_none_match: str | None) -> Answer:
    """The one range of a container; 304 to its ETag, or the clients would ask for ever."""
    etag = f'"{container.rid}"'
    if if_none_match == etag:
        return Answer(304, headers={"ETag": etag, "x-ms-item-count": "0"})
    key_range: JsonObject = {
        "id": "0",
        "_rid": container.rid,
        "_self": f"{container.link}pkranges/0/",
        "_etag": etag,
        "_ts": container.timestamp,
        "minInclusive": "",
        "maxExclusive": "FF",
        "ridPrefix": 0,
        "throughputFraction": 1,
        "status": "online",
        "parents": [],
    }
    feed = feed_answer(container.rid, "PartitionKeyRanges", [write_json(key_range)])
    return Answer(200, feed.body, headers={**feed.headers, "ETag": etag})


def _database_body(database: Database) -> JsonObject:
    return {
        "id": database.name,
        "_rid": database.rid,
        "_self": f"dbs/{database.rid}/",
        "_etag": database.etag,
        "_ts": database.timestamp,
        "_colls": "colls/",
        "_users": "users/",
    }


def _container_body(container: Container) -> JsonObject:
    settings = container.settings
    body: JsonObject = {
        "id": settings.name,
        "_rid": container.rid,
        "_self": container.link,
        "_etag": container.etag,
        "_ts": container.timestamp,
        "_docs": "docs/",
        "partitionKey": {
            "paths": [settings.partition_key],
            "kind": "Hash",
            "version": settings.partition_key_version,
        },
        "indexingPolicy": {
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": _path_list(settings.indexing.included),
            "excludedPaths": _path_list(settings.indexing.excluded),
        },
    }
    if settings.default_ttl is not None:
        body["defaultTtl"] = settings.default_ttl
    return body


def _path_list(paths: tuple[str, ...]) -> Json:
    return [{"path": path} for path in paths]
