"""The last state document of each partition that this process wrote: a convoy's next message then costs one call.

Safe for one reason only: whatever is written on a cached document bears its ETag, and is refused if another process
wrote meanwhile. What is not written, a dead letter, is never decided on one.
"""

from collections import OrderedDict
from typing import Final

from shared.idempotency.ports import StoredDocument

ENTRIES_MAX: Final = 1_000


class StateCache:
    """Documents of one container by partition; the one that was not used for longest goes first.

    Only a commit that is known to have been written puts one in; any other outcome drops it.
    """

    def __init__(self, entries_max: int = ENTRIES_MAX) -> None:
        self._entries_max = entries_max
        self._documents: OrderedDict[str, StoredDocument] = OrderedDict()

    def get(self, partition: str) -> StoredDocument | None:
        """The document as this process wrote it last, if nothing has happened since."""
        found = self._documents.get(partition)
        if found is not None:
            self._documents.move_to_end(partition)
        return found

    def put(self, partition: str, document: StoredDocument) -> None:
        """Remember what was just written."""
        self._documents[partition] = document
        self._documents.move_to_end(partition)
        if len(self._documents) > self._entries_max:
            self._documents.popitem(last=False)

    def drop(self, partition: str) -> None:
        """Forget it; no-op where there is none."""
        self._documents.pop(partition, None)
