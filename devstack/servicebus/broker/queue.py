"""What queues with and without sessions share: taking messages in, settling them, dead-lettering, peeking.

A message's lock is removed before its outcome is applied, and only the holder of a valid token gets here: so no
message is settled twice, and none is lost between two places.

Source: Azure docs, "Message transfers, locks, and settlement", "Dead-letter queues"; a dead-lettered message keeps
its sequence number, because it stays in its entity.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, assert_never
from uuid import UUID

from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import DecodeError, Value
from devstack.servicebus.broker.deadlines import Deadlines
from devstack.servicebus.broker.duplicates import DuplicateHistory
from devstack.servicebus.broker.errors import InvalidMessageError, NotAllowedError
from devstack.servicebus.broker.events import BrokerEvent
from devstack.servicebus.broker.messages import MessageStore, StoredMessage
from devstack.servicebus.broker.outcomes import Abandon, Complete, DeadLetter, Outcome, Release
from devstack.servicebus.broker.settings import QueueSettings

_ID_MAX_CHARACTERS: Final = 128
MAX_DELIVERY_COUNT_EXCEEDED: Final = "MaxDeliveryCountExceeded"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all queues of a broker are given: time (aware, UTC), fresh ids, the plan, and the way to report."""

    clock: Callable[[], datetime]
    new_id: Callable[[], UUID]
    deadlines: Deadlines
    events: deque[BrokerEvent]


class Queue(ABC):
    """One queue, or a queue's dead-letter queue.

    Attributes:
        dead_letters: where its dead letters go; None on a dead-letter queue, which keeps its messages for good.
    """

    def __init__(self, settings: QueueSettings, surroundings: Surroundings, dead_letters: "Queue | None") -> None:
        self.settings = settings
        self.dead_letters = dead_letters
        self._surroundings = surroundings
        self._messages = MessageStore()
        self._next_number = 1
        window = settings.duplicate_window
        self._history = None if window is None else DuplicateHistory(window)

    def enqueue(self, contents: Sequence[Sections]) -> int:
        """Take in all of these messages, or none.

        Returns:
            How many were not dropped as duplicates.

        Raises:
            InvalidMessageError: one of them breaks a rule; nothing was taken in.
            NotAllowedError: this is a dead-letter queue.
        """
        if self.dead_letters is None:
            raise NotAllowedError(f"The dead-letter queue of '{self.settings.name}' takes no messages from clients.")
        now = self._surroundings.clock()
        checked = [self._checked(content) for content in contents]
        accepted = 0
        for content, message_id, session_id in checked:
            if self._history is not None and not self._history.add(message_id, now):
                continue
            message = StoredMessage(self._next_number, now, content, session_id)
            self._next_number += 1
            self._messages.add(message)
            self._make_ready(message)
            accepted += 1
        return accepted

    def peek(self, from_number: int, limit: int, session_id: str | None = None) -> list[StoredMessage]:
        """Return up to `limit` messages from a sequence number on, locked ones too, without locking them."""
        found: list[StoredMessage] = []
        for message in self._messages.from_number(from_number):
            if len(found) == limit:
                break
            if session_id is None or message.session_id == session_id:
                found.append(message)
        return found

    @abstractmethod
    def settle(self, lock_token: UUID, outcome: Outcome) -> None:
        """Apply an outcome to the message under this lock.

        Raises:
            MessageLockLostError: there is no such lock (any more).
            NotAllowedError: a dead letter cannot be dead-lettered; the lock stays.
        """

    @abstractmethod
    def _make_ready(self, message: StoredMessage) -> None:
        """Offer an unlocked message to the receivers."""

    def _check_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, DeadLetter) and self.dead_letters is None:
            raise NotAllowedError("A message in a dead-letter queue cannot be dead-lettered.")

    def _apply(self, message: StoredMessage, outcome: Outcome) -> None:
        """Do with a message, which is unlocked by now, what its receiver decided."""
        match outcome:
            case Complete():
                self._messages.remove(message)
            case Release():
                self._make_ready(message)
            case Abandon(properties):
                if properties:
                    message.content = message.content.with_application_properties(properties)
                self._count_failure(message)
            case DeadLetter():
                self._dead_letter(message, outcome)
            case _:
                assert_never(outcome)

    def _count_failure(self, message: StoredMessage) -> None:
        message.delivery_count += 1
        limit = self.settings.max_delivery_count
        if self.dead_letters is None or message.delivery_count < limit:
            self._make_ready(message)
            return
        description = f"Message could not be consumed after {limit} delivery attempts."
        self._dead_letter(message, DeadLetter(MAX_DELIVERY_COUNT_EXCEEDED, description))

    def _dead_letter(self, message: StoredMessage, outcome: DeadLetter) -> None:
        if self.dead_letters is None:
            raise NotAllowedError("A message in a dead-letter queue cannot be dead-lettered.")
        properties: dict[str, Value] = dict(outcome.properties)
        if outcome.reason is not None:
            properties["DeadLetterReason"] = outcome.reason
        if outcome.description is not None:
            properties["DeadLetterErrorDescription"] = outcome.description
        if properties:
            message.content = message.content.with_application_properties(properties)
        message.dead_letter_source = self.settings.name
        self._messages.remove(message)
        self.dead_letters.take_over(message)

    def take_over(self, message: StoredMessage) -> None:
        """Take a message from the queue that this is the dead-letter queue of."""
        self._messages.add(message)
        self._make_ready(message)

    def _checked(self, content: Sections) -> tuple[Sections, str, str | None]:
        """Return the content with a message id, that id, and the session id."""
        try:
            message_id, session_id = content.message_id, content.group_id
        except DecodeError as error:
            raise InvalidMessageError(f"properties: {error}") from error
        if message_id is None:
            # .NET may send no properties section at all; Service Bus gives such a message an id.
            message_id = self._surroundings.new_id().hex
            content = content.with_message_id(message_id)
        text = str(message_id)
        if len(text) > _ID_MAX_CHARACTERS:
            raise InvalidMessageError(f"MessageId: {len(text)} characters, at most {_ID_MAX_CHARACTERS} are allowed.")
        if session_id is not None and not isinstance(session_id, str):
            raise InvalidMessageError("SessionId: has to be a string.")
        if session_id is not None and len(session_id) > _ID_MAX_CHARACTERS:
            raise InvalidMessageError(
                f"SessionId: {len(session_id)} characters, at most {_ID_MAX_CHARACTERS} are allowed."
            )
        if session_id is None and self.settings.requires_session:
            raise InvalidMessageError(
                "SessionId: was not set on a message, and it cannot be sent to the entity. Entities that have "
                "session support enabled can only receive messages that have the SessionId set to a valid value."
            )
        return content, text, session_id
