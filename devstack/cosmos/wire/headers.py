"""Header names of the protocol, and how their values are read.

Source: azure-cosmos 4.17.1, ``http_constants.HttpHeaders``.
"""

from collections.abc import Mapping
from typing import Final

from devstack.cosmos.errors import bad_request

ACTIVITY_ID: Final = "x-ms-activity-id"
ALT_CONTENT_PATH: Final = "x-ms-alt-content-path"
BATCH_ATOMIC: Final = "x-ms-cosmos-batch-atomic"
CONTINUATION: Final = "x-ms-continuation"
CROSS_PARTITION: Final = "x-ms-documentdb-query-enablecrosspartition"
DATE: Final = "x-ms-date"
INTENDED_CONTAINER_RID: Final = "x-ms-cosmos-intended-collection-rid"
INCREMENTAL_FEED: Final = "A-IM"
IS_BATCH: Final = "x-ms-cosmos-is-batch-request"
IS_QUERY: Final = "x-ms-documentdb-isquery"
IS_QUERY_PLAN: Final = "x-ms-cosmos-is-query-plan-request"
IS_UPSERT: Final = "x-ms-documentdb-is-upsert"
ITEM_COUNT: Final = "x-ms-item-count"
MAX_ITEM_COUNT: Final = "x-ms-max-item-count"
PARTITION_KEY: Final = "x-ms-documentdb-partitionkey"
PARTITION_KEY_RANGE_ID: Final = "x-ms-documentdb-partitionkeyrangeid"
REQUEST_CHARGE: Final = "x-ms-request-charge"
RETRY_AFTER: Final = "x-ms-retry-after-ms"
SESSION_TOKEN: Final = "x-ms-session-token"  # noqa: S105 - a header's name
SUB_STATUS: Final = "x-ms-substatus"

# Source: "Pagination in Azure Cosmos DB": 100 unless told; -1 lets the server choose.
_PAGE_ITEMS_DEFAULT: Final = 100
_PAGE_ITEMS_MAX: Final = 1000


def flag(headers: Mapping[str, str], name: str) -> bool:
    """Whether a header says true; the SDKs write ``True`` and ``true``."""
    return headers.get(name, "").lower() == "true"


def page_items_max(headers: Mapping[str, str]) -> int:
    """How many items a page may hold.

    Raises:
        CosmosError: 400, if the header is neither -1 nor a positive whole number.
    """
    text = headers.get(MAX_ITEM_COUNT, "")
    if not text:
        return _PAGE_ITEMS_DEFAULT
    if text == "-1":
        return _PAGE_ITEMS_MAX
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) == 0:
        raise bad_request(f"{MAX_ITEM_COUNT} must be -1 or a positive whole number.")
    return min(int(text), _PAGE_ITEMS_MAX)


def prefers_minimal(headers: Mapping[str, str]) -> bool:
    """Whether the client wants writes answered without the item."""
    return headers.get("Prefer", "").lower() == "return=minimal"
