r"""Request paths to the resource they name.

Ids may hold any character but ``/ \ ? #``, so a path is split as it came and never
normalised: ``..`` is an id.
"""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from devstack.cosmos.errors import CosmosError, bad_request


class ResourceType(StrEnum):
    """The words of the path; they are signed. The account has none."""

    ACCOUNT = ""
    DATABASES = "dbs"
    CONTAINERS = "colls"
    ITEMS = "docs"
    PARTITION_KEY_RANGES = "pkranges"


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """A resource, or the feed of a type below its parent (then the last name is None).

    Attributes:
        type: what the request is about.
        database: name or rid, or None for the account and the feed of databases.
        container: name or rid.
        item: the item's id; None for the feed.
        signed_links: the links that clients sign: by names, or the lowercased last rid.
    """

    type: ResourceType
    database: str | None
    container: str | None
    item: str | None
    signed_links: tuple[str, ...]


_HIERARCHIES = (
    (ResourceType.DATABASES,),
    (ResourceType.DATABASES, ResourceType.CONTAINERS),
    (ResourceType.DATABASES, ResourceType.CONTAINERS, ResourceType.ITEMS),
    (ResourceType.DATABASES, ResourceType.CONTAINERS, ResourceType.PARTITION_KEY_RANGES),
)


def parse_path(raw_path: str) -> ResourcePath:
    """Read the path of a request line, still percent-encoded.

    Raises:
        CosmosError: 400, if it names no resource that this emulator has.
    """
    path = raw_path.partition("?")[0].removeprefix("/").removesuffix("/")
    if not path:
        return ResourcePath(ResourceType.ACCOUNT, None, None, None, ("",))
    segments = [unquote(segment, errors="surrogateescape") for segment in path.split("/")]
    types, names = tuple(segments[::2]), segments[1::2]
    if types not in _HIERARCHIES or "" in names:
        raise _unknown(raw_path)
    linked = segments if len(segments) % 2 == 0 else segments[:-1]
    database, container, item = (names + [None] * 3)[:3]
    return ResourcePath(
        type=ResourceType(types[-1]),
        database=database,
        container=container,
        item=item,
        signed_links=("/".join(linked), linked[-1].lower() if linked else ""),
    )


def _unknown(raw_path: str) -> CosmosError:
    if raw_path.startswith("//addresses"):
        return bad_request("Direct mode is not supported: use ConnectionMode.Gateway.")
    return bad_request("The request path names no resource that the local emulator has.")
