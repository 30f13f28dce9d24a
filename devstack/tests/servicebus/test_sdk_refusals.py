"""What the broker refuses, and the exception that the SDK makes of it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import (
    MessageSizeExceededError,
    MessagingEntityNotFoundError,
    ServiceBusAuthenticationError,
    ServiceBusError,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(broker: str) -> AsyncIterator[ServiceBusClient]:
    async with ServiceBusClient.from_connection_string(broker, retry_total=0) as opened:
        yield opened


async def test_a_wrong_key_is_refused(broker: str) -> None:
    wrong = broker.replace("SharedAccessKey=", "SharedAccessKey=not-")
    async with ServiceBusClient.from_connection_string(wrong, retry_total=0) as other:
        sender = other.get_queue_sender("orders")
        with pytest.raises(ServiceBusAuthenticationError):
            await sender.__aenter__()
        await sender.close()


async def test_a_missing_queue_is_named(client: ServiceBusClient) -> None:
    sender = client.get_queue_sender("nowhere")
    with pytest.raises(MessagingEntityNotFoundError, match="nowhere"):
        await sender.__aenter__()
    await sender.close()


@pytest.mark.parametrize(("name", "session_id"), [("orders", None), ("plain", "s")])
async def test_a_receiver_of_the_wrong_kind_is_refused(
    client: ServiceBusClient, name: str, session_id: str | None
) -> None:
    receiver = client.get_queue_receiver(name, session_id=session_id)
    with pytest.raises(ServiceBusError, match="session"):
        await receiver.__aenter__()
    await receiver.close()


async def test_a_message_that_is_too_large_is_refused(client: ServiceBusClient) -> None:
    async with client.get_queue_sender("small") as sender:
        with pytest.raises(MessageSizeExceededError):
            await sender.send_messages(ServiceBusMessage(b"x" * 5000))
        batch = await sender.create_message_batch()
        assert batch.max_size_in_bytes == 4096
        await sender.send_messages(ServiceBusMessage(b"x" * 3000))
