"""Which paths a container indexes: ORDER BY needs its path indexed, here as in Azure.

Source: "Indexing policies in Azure Cosmos DB": the more precise path wins; ``id`` and ``_ts`` are always
indexed.
"""

from typing import Final

from devstack.cosmos.errors import bad_request
from devstack.cosmos.query.syntax import OrderBy
from devstack.cosmos.topology import Indexing

_ALWAYS: Final = frozenset({("id",), ("_ts",)})


def require_indexed(order_by: OrderBy, indexing: Indexing) -> None:
    """Check that a query may sort by its property.

    Raises:
        CosmosError: 400, if the policy excludes the path.
    """
    path = tuple("[]" if isinstance(name, int) else name for name in order_by.key.path)
    if path not in _ALWAYS and not _is_indexed(path, indexing):
        raise bad_request(
            f"The index path corresponding to the specified order-by item is excluded: /{'/'.join(path)}/?. "
            "Add it to the container's included paths."
        )


def _is_indexed(path: tuple[str, ...], indexing: Indexing) -> bool:
    included = max((_precision(pattern, path) for pattern in indexing.included), default=-1)
    excluded = max((_precision(pattern, path) for pattern in indexing.excluded), default=-1)
    # Where no pattern says anything, the default policy holds: everything is indexed.
    return included >= excluded


def _precision(pattern: str, path: tuple[str, ...]) -> int:
    """How precisely a pattern names a path; -1 if it does not."""
    names = tuple(name.strip('"') for name in pattern.removeprefix("/").split("/"))
    base, end = names[:-1], names[-1]
    if end == "*":
        return len(base) * 2 if path[: len(base)] == base else -1
    return len(base) * 2 + 1 if end == "?" and path == base else -1
