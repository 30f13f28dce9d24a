"""What a queue is set up to do."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """One queue.

    Attributes:
        duplicate_window: how long a message id is remembered; None when duplicates are not detected.
        max_delivery_count: this many failed deliveries move a message to the dead-letter queue.
        max_message_bytes: of one encoded message, and of a whole batch.
    """

    name: str
    requires_session: bool
    lock_duration: timedelta
    max_delivery_count: int
    max_message_bytes: int
    duplicate_window: timedelta | None
