"""The queue `orders` through the Service Bus SDK: send, and look at what is left without taking it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender
from azure.servicebus.exceptions import MessageSizeExceededError

from samples.addresses import QUEUE
from samples.plans import Letter

PEEK_COUNT = 100
SESSIONS_AT_ONCE = 8
"""Each session opened is a connection of its own, which takes the SDK about a second."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead-lettered message, without its body."""

    message_id: str
    session_id: str
    reason: str
    description: str


async def send_in_batches(sender: ServiceBusSender, letters: Iterable[Letter]) -> int:
    """Send messages in as few batches as they fit in, and return how many the broker accepted.

    Raises:
        ServiceBusError: a batch was not accepted; those before it were.
    """
    count = 0
    batch = await sender.create_message_batch()
    for letter in letters:
        message = ServiceBusMessage(
            letter.body,
            message_id=letter.message_id,
            session_id=letter.session_id,
            content_type="application/json",
        )
        try:
            batch.add_message(message)
        except MessageSizeExceededError:
            await sender.send_messages(batch)
            batch = await sender.create_message_batch()
            batch.add_message(message)
        count += 1
    await sender.send_messages(batch)
    return count


async def dead_letters(client: ServiceBusClient) -> list[DeadLetter]:
    """Return all dead letters of the queue; they stay where they are."""
    # The dead-letter queue has no sessions, even that of a queue with sessions.
    async with client.get_queue_receiver(QUEUE, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
        found: list[DeadLetter] = []
        position = 1
        while page := await receiver.peek_messages(PEEK_COUNT, sequence_number=position):
            found += [
                DeadLetter(
                    message_id=message.message_id or "",
                    session_id=message.session_id or "",
                    reason=message.dead_letter_reason or "",
                    description=message.dead_letter_error_description or "",
                )
                for message in page
            ]
            position = 1 + max(message.sequence_number or 0 for message in page)
        return found


async def count_left(client: ServiceBusClient, session_ids: Iterable[str]) -> int:
    """Return how many messages are still in these sessions of the queue, whatever their state.

    Raises:
        SessionCannotBeLockedError: the app still holds one of the sessions, after the SDK's own tries.
    """
    slots = asyncio.Semaphore(SESSIONS_AT_ONCE)

    async def count(session_id: str) -> int:
        async with slots, client.get_queue_receiver(QUEUE, session_id=session_id) as receiver:
            return await _count(receiver)

    return sum(await asyncio.gather(*(count(session_id) for session_id in session_ids)))


async def _count(receiver: ServiceBusReceiver) -> int:
    total, position = 0, 1
    while page := await receiver.peek_messages(PEEK_COUNT, sequence_number=position):
        total += len(page)
        position = 1 + max(message.sequence_number or 0 for message in page)
    return total
