"""Stored messages, findable by sequence number and walkable in its order."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from devstack.servicebus.amqp.sections import Sections


@dataclass(slots=True, eq=False)
class StoredMessage:
    """One message in a queue.

    Attributes:
        session_id: None on a message without session.
        delivery_count: failed deliveries so far, 0 on the first delivery.
        dead_letter_source: name of the queue that it was dead-lettered from.
    """

    sequence_number: int
    enqueued_at: datetime
    content: Sections
    session_id: str | None
    delivery_count: int = 0
    dead_letter_source: str | None = None


class MessageStore:
    """The messages of one queue."""

    def __init__(self) -> None:
        self._by_number: dict[int, StoredMessage] = {}
        # Sorted; numbers of removed messages stay until they are the majority, so that removing costs no search.
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._by_number)

    def __getitem__(self, sequence_number: int) -> StoredMessage:
        return self._by_number[sequence_number]

    def add(self, message: StoredMessage) -> None:
        """Keep a message; those moved in from elsewhere may come out of order."""
        self._by_number[message.sequence_number] = message
        insort(self._numbers, message.sequence_number)

    def remove(self, message: StoredMessage) -> None:
        """Drop a message."""
        del self._by_number[message.sequence_number]
        if len(self._numbers) > 2 * len(self._by_number) + 64:
            self._numbers = sorted(self._by_number)

    def from_number(self, sequence_number: int) -> Iterator[StoredMessage]:
        """Walk the messages in order, from this number on."""
        for index in range(bisect_left(self._numbers, sequence_number), len(self._numbers)):
            message = self._by_number.get(self._numbers[index])
            if message is not None:
                yield message
