"""A request as the handlers see it: read from the socket, not yet checked."""

from collections.abc import Mapping
from dataclasses import dataclass

from devstack.cosmos.errors import bad_request
from devstack.cosmos.items.partition_key import from_header
from devstack.cosmos.wire.headers import PARTITION_KEY
from devstack.cosmos.wire.paths import ResourcePath


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; ``headers`` ignore case, ``endpoint`` is the URL by which the client came."""

    verb: str
    path: ResourcePath
    headers: Mapping[str, str]
    body: bytes
    endpoint: str


def required_partition_key(request: Request) -> str:
    """The canonical partition key that the request names.

    Raises:
        CosmosError: 400, if there is none.
    """
    header = request.headers.get(PARTITION_KEY)
    if header is None:
        raise bad_request("PartitionKey value must be supplied for this operation.")
    return from_header(header)
