"""What every stored document must satisfy: its id and its size."""

from typing import Final

from devstack.cosmos.errors import bad_request, too_large
from devstack.cosmos.json_values import JsonObject

# Source: "Azure Cosmos DB service quotas": per-item limits; request size of a transactional batch.
ITEM_BYTES_MAX: Final = 2 * 1024 * 1024
ID_BYTES_MAX: Final = 1023
_ID_FORBIDDEN: Final = frozenset("/\\?#")


def item_id(document: JsonObject) -> str:
    r"""The document's id.

    Raises:
        CosmosError: 400, if ``id`` is missing, empty, no string, too long, or holds ``/ \ ? #``.
    """
    value = document.get("id")
    if not isinstance(value, str) or not value:
        raise bad_request("The input content is invalid because the required property 'id' is missing or no text.")
    if not _ID_FORBIDDEN.isdisjoint(value):
        raise bad_request("The property 'id' must not hold any of / \\ ? #.")
    if len(value.encode("utf-8", "surrogatepass")) > ID_BYTES_MAX:
        raise bad_request(f"The property 'id' must not be longer than {ID_BYTES_MAX} bytes.")
    return value


def require_size(size_bytes: int) -> None:
    """Check a size against the 2 MB limit.

    Raises:
        CosmosError: 413, if it is more.
    """
    if size_bytes > ITEM_BYTES_MAX:
        raise too_large(f"Request size is too large: {size_bytes} bytes, at most {ITEM_BYTES_MAX}.")
