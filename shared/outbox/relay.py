"""Sends what a commit left in the outbox, in order per partition, and marks what was sent.

A crash anywhere in here sends again what was not marked, under the same MessageIds: the broker drops it within its
duplicate window, and the receiver completes it as a duplicate after that. Nothing is marked before it was accepted.

    {"id": "out:7", "status": "ready", "readySince": "...", ...}
    {"id": "out:7", "status": "published", "readySince": null, "ttl": 604800, ...}
    {"id": "out:7", "status": "parked", "readySince": "...", "parkedReason": "...", ...}

One that is parked is never sent, and those behind it wait: its partition's order counts for more than its progress.
"""

import logging
from collections.abc import Sequence
from itertools import batched, takewhile
from typing import Final

import msgspec

from shared.idempotency.errors import TransientError
from shared.idempotency.json_text import Json
from shared.idempotency.ports import (
    BATCH_OPERATIONS_MAX,
    Committed,
    Find,
    Replace,
    SearchableStore,
    StoredDocument,
    Write,
)
from shared.idempotency.search import find_all
from shared.outbox.outgoing import Destination, OutgoingMessage

PUBLISHED_SECONDS: Final = 7 * 24 * 3600
"""How long a message is kept after it was sent: for whoever has to look what was."""

_log = logging.getLogger(__name__)


async def relay(store: SearchableStore, partition: str, name: str, destination: Destination) -> int:
    """Send a partition's messages to one destination; returns how many were sent and marked.

    Args:
        store: of the container.
        partition: partition key value.
        name: of the destination, as the documents have it.
        destination: takes them.

    Raises:
        BrokerUnavailableError: the destination did not confirm; what was not confirmed is still there.
        StoreUnavailableError, StoreAccessError: see the port.
    """
    unpublished = Find(has="readySince", equals={"destination": name})
    waiting = [document async for document in find_all(store, unpublished, partition=partition)]
    ready = list(takewhile(_is_ready, sorted(waiting, key=_number)))
    marked = 0
    while ready:
        sent = await destination.send_batch([_outgoing(document) for document in ready])
        if sent == 0:
            _log.error("outbox=parked partition=%s id=%s destination=%s", partition, ready[0].body["id"], name)
            await _mark(store, partition, [_parked(ready[0], "larger than the destination takes")])
            break
        marked += await _mark(store, partition, [_published(document) for document in ready[:sent]])
        ready = ready[sent:]
    return marked


async def sweep(store: SearchableStore, name: str, destination: Destination) -> int:
    """Relay every partition that has messages for a destination; returns how many were sent.

    One partition's failure is logged, and the next sweep tries again.

    Raises:
        StoreUnavailableError, StoreAccessError: the partitions could not be found.
    """
    sent, seen = 0, set[str]()
    # Not by readySince alone: what is parked keeps its time, and those behind it wait.
    async for document in find_all(store, Find(has="readySince", equals={"destination": name, "status": "ready"})):
        partition = _partition_of(document)
        if partition in seen:
            continue
        seen.add(partition)
        try:
            sent += await relay(store, partition, name, destination)
        except TransientError as error:
            _log.warning("outbox=retry partition=%s destination=%s cause=%s", partition, name, error)
    return sent


async def _mark(store: SearchableStore, partition: str, writes: Sequence[Write]) -> int:
    """Replace them, as many as are still as they were read: another relay may have marked the others."""
    marked = 0
    for some in batched(writes, BATCH_OPERATIONS_MAX, strict=False):
        if isinstance(await store.commit(partition, some), Committed):
            marked += len(some)
    return marked


def _published(document: StoredDocument) -> Replace:
    return Replace(
        {**document.body, "status": "published", "readySince": None, "ttl": PUBLISHED_SECONDS}, document.etag
    )


def _parked(document: StoredDocument, reason: str) -> Replace:
    return Replace({**document.body, "status": "parked", "parkedReason": reason}, document.etag)


def _outgoing(document: StoredDocument) -> OutgoingMessage:
    message = document.body["message"]
    if not isinstance(message, dict):
        raise TypeError(f"{document.body['id']} holds no message")
    return OutgoingMessage(
        message_id=str(message["messageId"]),
        session_id=str(message["sessionId"]),
        body=msgspec.json.encode(message["body"]),
        subject=_text(message.get("subject")),
        traceparent=_text(document.body.get("traceparent")),
    )


def _is_ready(document: StoredDocument) -> bool:
    """Whether it may be sent; one that is parked holds up those behind it."""
    return document.body["status"] == "ready"


def _number(document: StoredDocument) -> int:
    return int(str(document.body["id"]).removeprefix("out:"))


def _partition_of(document: StoredDocument) -> str:
    message = document.body["message"]
    return str(message["sessionId"]) if isinstance(message, dict) else ""


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
