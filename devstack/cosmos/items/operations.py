"""The operations on items and their outcomes, as data."""

from dataclasses import dataclass

from devstack.cosmos.items.patch import Patch
from devstack.cosmos.json_values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Store a new item: 201, or 409 if the id is taken."""

    document: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Upsert:
    """Store an item, new (201) or in place of the old one (200; ``if_match`` guards only this)."""

    document: JsonObject
    if_match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Give an existing item a new content: 200, 404 or 412."""

    id: str
    document: JsonObject
    if_match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchItem:
    """Change parts of an existing item: 200, 404, 412 (ETag or condition) or 400."""

    id: str
    patch: Patch
    if_match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Remove an item: 204, 404 or 412."""

    id: str
    if_match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Read an item: 200, 304 if ``if_none_match`` is its ETag, or 404."""

    id: str
    if_none_match: str | None = None


type Operation = Create | Upsert | Replace | PatchItem | Delete | Read


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one operation; ``body`` is the item's JSON, None after a delete and with 304."""

    status: int
    charge: float
    etag: str | None = None
    body: bytes | None = None
