"""Resource ids: 4 bytes name a database, 8 a container, 16 an item; each begins with its parent's.

The SDKs tell the kinds apart by length and marker bits.
Source: Microsoft.Azure.Cosmos 3.64.0, ``ResourceId``.
"""

import base64
from collections.abc import Callable

type RandomBytes = Callable[[int], bytes]

_CONTAINER_MARK = 0x80


def new_database_rid(random_bytes: RandomBytes) -> str:
    """A new database's rid."""
    return _encode(random_bytes(4))


def new_container_rid(database_rid: str, random_bytes: RandomBytes) -> str:
    """A new container's rid; the mark in its first own byte tells it from a user."""
    own = bytearray(random_bytes(4))
    own[0] |= _CONTAINER_MARK
    return _encode(_decode(database_rid) + own)


def item_rid(container_rid: str, number: int) -> str:
    """An item's rid; little-endian, because the top nibble of the last byte must be 0."""
    return _encode(_decode(container_rid) + number.to_bytes(8, "little"))


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw, altchars=b"+-").decode("ascii")


def _decode(rid: str) -> bytes:
    return base64.b64decode(rid, altchars=b"+-")
