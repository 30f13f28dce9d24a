"""The store port in memory, held to the same contract suite as the Cosmos DB store.

It is strict where Cosmos DB is: a batch is all or nothing, ETags guard replacements, limits are counted in encoded
bytes. Documents are kept as JSON text, so that nothing written shares memory with anything read.
"""

import json
from collections.abc import Sequence

import msgspec

from shared.idempotency.errors import unknown_continuation
from shared.idempotency.ports import (
    BATCH_BYTES_MAX,
    BATCH_OPERATIONS_MAX,
    CommitOutcome,
    Committed,
    Conflict,
    Create,
    Delete,
    Document,
    Find,
    MarkerExists,
    Page,
    Refused,
    Replace,
    StoredDocument,
    TooLarge,
    Write,
    written_id,
)

type _Partition = dict[str, tuple[bytes, str]]


class MemoryStore:
    """Documents of one container.

    Attributes:
        reads: point reads so far.
        queries: reads of several documents so far.
        commits: commits so far, refused ones included.
        writes: documents written so far; refused commits write none.
    """

    def __init__(self, partition_key: str) -> None:
        """An empty container.

        Args:
            partition_key: path of the partition key, such as `/orderId`; every document must bear its field.
        """
        self._partition_field = partition_key.removeprefix("/")
        self._partitions: dict[str, _Partition] = {}
        self._version = 0
        self.reads = 0
        self.queries = 0
        self.commits = 0
        self.writes = 0

    @property
    def calls(self) -> int:
        """Store calls so far."""
        return self.reads + self.queries + self.commits

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        """Point read. See the port."""
        self.reads += 1
        found = self._partitions.get(partition, {}).get(document_id)
        return None if found is None else StoredDocument(json.loads(found[0]), found[1])

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        """One query. See the port."""
        self.queries += 1
        documents = self._partitions.get(partition, {})
        found = {document_id: documents[document_id] for document_id in document_ids if document_id in documents}
        return {document_id: StoredDocument(json.loads(text), etag) for document_id, (text, etag) in found.items()}

    async def find(
        self, find: Find, *, partition: str | None = None, continuation: str | None = None, documents_max: int = 100
    ) -> Page:
        """One page of a query. See the port."""
        self.queries += 1
        partitions = self.partitions() if partition is None else (partition,)
        found = [
            StoredDocument(json.loads(text), etag)
            for each in partitions
            for text, etag in self._partitions.get(each, {}).values()
        ]
        wanted = [document for document in found if _is_wanted(find, document.body)]
        if continuation is not None and not continuation.isdecimal():
            raise unknown_continuation()
        start = int(continuation or 0)
        end = start + documents_max
        return Page(tuple(wanted[start:end]), str(end) if end < len(wanted) else None)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        """Write all or nothing. See the port."""
        self.commits += 1
        if len(writes) > BATCH_OPERATIONS_MAX:
            return TooLarge(f"{len(writes)} documents, a batch takes {BATCH_OPERATIONS_MAX}")
        try:
            texts = [b"" if isinstance(write, Delete) else _text(write.body) for write in writes]
        except ValueError:
            return Refused(400)
        if (size := sum(map(len, texts))) > BATCH_BYTES_MAX:
            return TooLarge(f"{size} bytes in one batch, the limit is {BATCH_BYTES_MAX}")
        if not writes or not all(self._is_placed(write, partition) for write in writes):
            return Refused(400)
        # Worked on a copy that replaces the partition only as a whole.
        changed = dict(self._partitions.get(partition, {}))
        etags: list[str] = []
        for index, (write, text) in enumerate(zip(writes, texts, strict=True)):
            document_id = written_id(write)
            if refusal := _refusal(write, changed.get(document_id)):
                return MarkerExists() if index == 0 and isinstance(write, Create) else refusal
            if isinstance(write, Delete):
                del changed[document_id]
                etags.append("")
            else:
                etags.append(self._next_etag())
                changed[document_id] = (text, etags[-1])
        self._partitions[partition] = changed
        self.writes += len(writes)
        return Committed(tuple(etags))

    def documents(self, partition: str) -> dict[str, Document]:
        """The documents of a partition by id; not counted as a read."""
        return {key: json.loads(text) for key, (text, _) in self._partitions.get(partition, {}).items()}

    def document(self, partition: str, document_id: str) -> Document | None:
        """One document, None where there is none; not counted as a read."""
        found = self._partitions.get(partition, {}).get(document_id)
        return None if found is None else json.loads(found[0])

    def partitions(self) -> tuple[str, ...]:
        """The partitions that hold documents, sorted."""
        return tuple(sorted(self._partitions))

    def put(self, partition: str, body: Document) -> None:
        """Set a document as it is to be found by a test; not counted as a write."""
        self._partitions.setdefault(partition, {})[str(body["id"])] = (_text(body), self._next_etag())

    def _is_placed(self, write: Write, partition: str) -> bool:
        if isinstance(write, Delete):
            return True
        body = write.body
        document_id = body.get("id")
        return isinstance(document_id, str) and document_id != "" and body.get(self._partition_field) == partition

    def _next_etag(self) -> str:
        self._version += 1
        return f'"{self._version}"'


def _refusal(write: Write, found: tuple[bytes, str] | None) -> Conflict | None:
    match write:
        case Create():
            return None if found is None else Conflict(409)
        case Replace(_, etag) | Delete(_, etag):
            if found is None:
                return Conflict(404)
            return None if found[1] == etag else Conflict(412)


def _is_wanted(find: Find, body: Document) -> bool:
    return body.get(find.has) is not None and all(body.get(name) == value for name, value in find.equals.items())


def _text(body: Document) -> bytes:
    """JSON as it would be sent.

    Raises:
        ValueError: NaN, or a lone surrogate.
        TypeError: a value of no JSON type, subclasses of str included: a fault of the code, not of the message.
    """
    msgspec.json.encode(body)
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
