"""What the engine needs from outside, and the data that crosses: deliveries, documents, writes, outcomes.

Implementations: `shared.cosmos.store` and `shared.testing.memory_store`, both held to one contract suite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from shared.idempotency.json_text import Json

type Document = dict[str, Json]

BATCH_OPERATIONS_MAX: Final = 100
BATCH_BYTES_MAX: Final = 2 * 1024 * 1024
"""Limits of one commit. Source: Azure Cosmos DB service quotas, "Transactional batch" and "Maximum item size"; the SDK
checks neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery of one message.

    Attributes:
        message_id: the broker's MessageId.
        session_id: the broker's SessionId, None where the message has none.
        sequence_number: the broker's number of the message, for logs.
        delivery_count: 1 on the first delivery; each abandon, lost lock and worker crash adds one.
        body: the payload bytes; None where the sender used another kind of AMQP body (a value or a sequence).
        traceparent: W3C trace context of the sender, None where absent.
    """

    message_id: str
    session_id: str | None
    sequence_number: int
    delivery_count: int
    body: bytes | None
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as read, with the ETag that guards its replacement."""

    body: Document
    etag: str


@dataclass(frozen=True, slots=True)
class Create:
    """Create a document; the commit fails if its id is taken. The document holds `id` and the partition key."""

    body: Document


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace a document; the commit fails if it is not at this ETag any more."""

    body: Document
    etag: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a document; the commit fails if it is not at this ETag any more."""

    document_id: str
    etag: str


type Write = Create | Replace | Delete


def written_id(write: Write) -> str:
    """The id of the document that a write is about."""
    return write.document_id if isinstance(write, Delete) else str(write.body["id"])


@dataclass(frozen=True, slots=True)
class Committed:
    """All writes are durable.

    Attributes:
        etags: of the documents, in the order of the writes; "" for one that was deleted.
    """

    etags: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class MarkerExists:
    """The first write was refused because its id is taken. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another write was refused by what is stored now. Nothing was written: read and decide again."""

    status: int


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """No answer: all writes may be durable, or none. Only reading the marker tells."""

    cause: str


@dataclass(frozen=True, slots=True)
class Throttled:
    """Nothing was written; the store asks to wait."""

    retry_after_seconds: float


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A document or the batch is over the store's limits. Nothing was written, and never will be."""

    detail: str


@dataclass(frozen=True, slots=True)
class PartitionFull:
    """The logical partition is at the store's size limit. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The store calls the request itself wrong. Nothing was written."""

    status: int


@dataclass(frozen=True, slots=True)
class AccessDenied:
    """Our identity is refused, or the container is missing: an operator's mistake. Nothing was written."""

    status: int


type CommitOutcome = (
    Committed | MarkerExists | Conflict | OutcomeUnknown | Throttled | TooLarge | PartitionFull | Refused | AccessDenied
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """Which documents are looked for: those that have a field, and fields of these values.

    Attributes:
        has: a field that they must have, with a value that is not null.
        equals: values that their fields must have.
    """

    has: str
    equals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """Documents that were found, and where the next ones begin; None after the last."""

    documents: Sequence[StoredDocument]
    continuation: str | None = None


class Store(Protocol):
    """Documents of one container, by logical partition. Each call ends in time: see `TimeLimitedStore`."""

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Read one document, at least as new as this store's own last write or refusal in the partition.

        Raises:
            StoreUnavailableError: no answer in time, or throttled; try again.
            StoreAccessError: identity refused or container missing; try again, and alert.
        """
        ...

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Read up to 100 documents of one partition in one query; those that do not exist are left out.

        Raises:
            StoreUnavailableError, StoreAccessError: as `read`.
        """
        ...

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Write all or nothing. The first write is the message's own marker.

        Every fault is an outcome; only cancellation raises, and leaves the outcome unknown.
        """
        ...


class SearchableStore(Store, Protocol):
    """A store in which documents can be found without their ids: for what looks after the engine's work."""

    async def find(
        self, find: Find, *, partition: str | None = None, continuation: str | None = None, documents_max: int = 100
    ) -> Page:
        """Find documents of one partition, or of all; in no particular order, page by page.

        Over all partitions, it may be behind what was just written.

        Raises:
            PermanentError: the continuation is none that this search gave.
            StoreUnavailableError, StoreAccessError: as `read`.
        """
        ...


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> datetime:
        """The time in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Random(Protocol):
    """Randomness, injected."""

    def attempt_id(self) -> str:
        """A new unique id for one run over one delivery."""
        ...

    def fraction(self) -> float:
        """A number from 0 up to 1, for jitter."""
        ...
