"""A queue in memory, as a destination: takes batches by size, and drops what it has seen, by MessageId."""

from collections.abc import Sequence

from shared.outbox.outgoing import OutgoingMessage


class MemoryQueue:
    """The destination port. See the port for the contract.

    Attributes:
        accepted: what is in the queue, in order.
        batches: how many messages each send brought, those dropped included.
    """

    def __init__(self, *, batch_bytes_max: int = 256 * 1024) -> None:
        """An empty queue that takes this many bytes of bodies at once."""
        self._batch_bytes_max = batch_bytes_max
        self.accepted: list[OutgoingMessage] = []
        self.batches: list[int] = []

    @property
    def message_ids(self) -> list[str]:
        """MessageIds of what is in the queue, in order."""
        return [message.message_id for message in self.accepted]

    async def send_batch(self, messages: Sequence[OutgoingMessage]) -> int:
        """One batch. See the port."""
        size, batch = 0, list[OutgoingMessage]()
        for message in messages:
            size += len(message.body)
            if size > self._batch_bytes_max:
                break
            batch.append(message)
        known = set(self.message_ids)
        self.accepted += [message for message in batch if message.message_id not in known]
        self.batches.append(len(batch))
        return len(batch)
