"""Addresses of links: which node a client means.

Clients write them in many ways: the Python SDK as `amqps://host:port/queue` even without TLS, .NET as `/queue`, and
management links as `queue/$management`.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

_MANAGEMENT: Final = "/$management"
_DEAD_LETTER_QUEUE: Final = "/$deadletterqueue"
_CBS: Final = "$cbs"


class Node(Enum):
    """What an address leads to."""

    CBS = auto()
    ENTITY = auto()
    MANAGEMENT = auto()


@dataclass(frozen=True, slots=True)
class Address:
    """A node. `queue` is the queue's name as the client wrote it, without a sub-queue."""

    node: Node
    queue: str = ""
    is_dead_letter_queue: bool = False

    @property
    def entity(self) -> str:
        """The path that a token has to cover, for the entity's links and for its management alike."""
        return self.queue + _DEAD_LETTER_QUEUE if self.is_dead_letter_queue else self.queue


def parse_address(address: str) -> Address:
    """Read a link's address; case does not matter."""
    path = resource_path(address)
    if path.lower() == _CBS:
        return Address(Node.CBS)
    node = Node.ENTITY
    if path.lower().endswith(_MANAGEMENT):
        node, path = Node.MANAGEMENT, path[: -len(_MANAGEMENT)]
    if path.lower().endswith(_DEAD_LETTER_QUEUE):
        return Address(node, path[: -len(_DEAD_LETTER_QUEUE)], is_dead_letter_queue=True)
    return Address(node, path)


def resource_path(address: str) -> str:
    """Return an address or resource without scheme and host."""
    return (urlsplit(address).path if "://" in address else address).strip("/")


def covers(resource: str, path: str) -> bool:
    """Whether a grant for a resource reaches a path: the root all, others themselves and what lies below."""
    granted, wanted = resource_path(resource).lower(), path.lower()
    return not granted or wanted == granted or wanted.startswith(granted + "/")
