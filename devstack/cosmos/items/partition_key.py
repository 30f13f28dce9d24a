"""Partition key values: one canonical text per value, from the request header and from documents.

``"a"``, ``null``, ``7``, ``true`` and undefined (``{}``) are five different keys, and 7.0 is 7.
"""

from typing import Final

from devstack.cosmos.errors import PARTITION_KEY_MISMATCH, bad_request
from devstack.cosmos.json_values import Json, JsonObject, read_json, write_json

# Source: "Azure Cosmos DB service quotas", per-item limits, for partition key version 2.
PARTITION_KEY_BYTES_MAX: Final = 2048

UNDEFINED: Final = "{}"


def from_header(header: str) -> str:
    """The canonical key of an ``x-ms-documentdb-partitionkey`` header, a JSON array of one value.

    Raises:
        CosmosError: 400, if the header is no array of one string, number, boolean, null or ``{}``.
    """
    values = read_json(header.encode("utf-8", "surrogateescape"))
    if not isinstance(values, list) or len(values) != 1:
        raise bad_request("x-ms-documentdb-partitionkey must be a JSON array of one value.")
    return UNDEFINED if values[0] == {} else _canonical(values[0])


def of_document(document: JsonObject, path: str) -> str:
    """The canonical key that a document has under a container's partition key path.

    Raises:
        CosmosError: 400, if the value is an array or an object.
    """
    value: Json = document
    for name in path.removeprefix("/").split("/"):
        if not isinstance(value, dict) or name not in value:
            return UNDEFINED
        value = value[name]
    return _canonical(value)


def require_match(document: JsonObject, path: str, partition_key: str) -> None:
    """Check that a document lies in the partition that the request names.

    Raises:
        CosmosError: 400/1001, if it lies in another.
    """
    if of_document(document, path) != partition_key:
        raise bad_request(
            f"PartitionKey extracted from document ({path}) doesn't match the one specified in the header.",
            PARTITION_KEY_MISMATCH,
        )


def _canonical(value: Json) -> str:
    if isinstance(value, dict | list):
        raise bad_request("A partition key must be a string, a number, a boolean or null.")
    text = write_json(value)
    if len(text) > PARTITION_KEY_BYTES_MAX + 2:
        raise bad_request(f"A partition key must not be longer than {PARTITION_KEY_BYTES_MAX} bytes.")
    return text.decode("utf-8")
