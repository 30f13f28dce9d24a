"""Sending to a queue and probing it: the SDK, real AMQP, the local stack's broker."""

import asyncio
import gc
import socket
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from azure.servicebus.aio import ServiceBusClient

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.client import Connection
from shared.idempotency.errors import BrokerUnavailableError, DeadLetterReason, PermanentError
from shared.outbox.outgoing import OutgoingMessage
from shared.servicebus.client import open_client
from shared.servicebus.sender import QueueProbe, QueueSender
from shared.settings import ServiceBusSettings
from tests.integration.emulators import Emulator, emulator

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
# Those of infra/topology.json.
MESSAGE_BYTES_MAX = 262_144

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def broker() -> Iterator[Emulator]:
    with emulator("servicebus") as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(broker: Emulator) -> AsyncIterator[ServiceBusClient]:
    async with open_client(ServiceBusSettings(broker.connection_string, None)) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sender(client: ServiceBusClient) -> AsyncIterator[QueueSender]:
    opened = QueueSender(client, "orders", send_seconds=10)
    yield opened
    await opened.close()


def message(session_id: str, message_id: str = "", **fields: str) -> OutgoingMessage:
    return OutgoingMessage(
        message_id=message_id or f"{session_id}~0123456789abcdef", session_id=session_id, body=b"{}", **fields
    )


@pytest.fixture
def session_id() -> str:
    return uuid.uuid4().hex


async def in_queue(broker: Emulator, session_id: str) -> list[Message]:
    """The messages of a session, in the queue's order."""
    connection = await Connection.open(broker.connection_string)
    try:
        found = await connection.peek("orders", 1000)
    finally:
        await connection.close()
    return [entry for entry in found if entry.properties.group_id == session_id]


async def test_a_message_arrives_as_it_was_sent(sender: QueueSender, broker: Emulator, session_id: str) -> None:
    body = '{"description":"Größe 漢"}'.encode()
    await sender.send(
        OutgoingMessage(message_id=f"{session_id}~0f", session_id=session_id, body=body, traceparent=TRACEPARENT)
    )
    (arrived,) = await in_queue(broker, session_id)
    assert arrived.properties.message_id == f"{session_id}~0f"
    assert arrived.properties.group_id == session_id
    assert arrived.properties.content_type == "application/json"
    assert arrived.application_properties == {"traceparent": TRACEPARENT}
    assert [section.value for section in arrived.body_sections] == [body]


async def test_a_message_without_a_trace_has_no_property(
    sender: QueueSender, broker: Emulator, session_id: str
) -> None:
    await sender.send(message(session_id))
    (arrived,) = await in_queue(broker, session_id)
    assert arrived.application_properties == {}


async def test_a_duplicate_is_accepted_and_dropped(sender: QueueSender, broker: Emulator, session_id: str) -> None:
    await sender.send(message(session_id))
    await sender.send(message(session_id))
    await sender.send(message(session_id, f"{session_id}~0123456789abcdef~copy1"))
    ids = [entry.properties.message_id for entry in await in_queue(broker, session_id)]
    assert ids == [f"{session_id}~0123456789abcdef", f"{session_id}~0123456789abcdef~copy1"]


async def test_concurrent_sends_over_one_sender_all_arrive_once(
    sender: QueueSender, broker: Emulator, session_id: str
) -> None:
    await asyncio.gather(*(sender.send(message(session_id, f"{session_id}.{number}")) for number in range(50)))
    ids = [entry.properties.message_id for entry in await in_queue(broker, session_id)]
    assert sorted(map(str, ids)) == sorted(f"{session_id}.{number}" for number in range(50))


async def test_a_message_that_is_too_large_is_its_own_fault(
    sender: QueueSender, broker: Emulator, session_id: str
) -> None:
    large = OutgoingMessage(message_id=session_id, session_id=session_id, body=b" " * MESSAGE_BYTES_MAX)
    with pytest.raises(PermanentError) as raised:
        await sender.send(large)
    assert raised.value.reason is DeadLetterReason.PAYLOAD_TOO_LARGE
    await sender.send(message(session_id))
    assert len(await in_queue(broker, session_id)) == 1


async def test_the_largest_body_of_the_settings_default_is_taken(
    sender: QueueSender, broker: Emulator, session_id: str
) -> None:
    await sender.send(OutgoingMessage(message_id=session_id, session_id=session_id, body=b" " * 128 * 1024))
    assert len(await in_queue(broker, session_id)) == 1


async def test_a_missing_queue_is_no_fault_of_the_message(client: ServiceBusClient) -> None:
    sender = QueueSender(client, "nowhere", send_seconds=10)
    with pytest.raises(BrokerUnavailableError, match="broker: MessagingEntityNotFoundError"):
        await sender.send(message("s"))
    await sender.close()


async def test_the_probe_returns_when_the_queue_answers(client: ServiceBusClient) -> None:
    probe = QueueProbe(client, "orders", probe_seconds=10)
    await probe.check()
    await asyncio.gather(probe.check(), probe.check())
    await probe.close()


async def test_the_probe_tells_of_a_missing_queue(client: ServiceBusClient) -> None:
    probe = QueueProbe(client, "nowhere", probe_seconds=10)
    with pytest.raises(BrokerUnavailableError, match="broker: MessagingEntityNotFoundError"):
        await probe.check()
    await probe.close()


async def test_a_wrong_key_is_no_fault_of_the_message_and_is_not_shown(broker: Emulator) -> None:
    wrong = broker.connection_string.replace("SharedAccessKey=", "SharedAccessKey=x")
    async with open_client(ServiceBusSettings(wrong, None)) as client:
        sender = QueueSender(client, "orders", send_seconds=10)
        probe = QueueProbe(client, "orders", probe_seconds=10)
        sent, asked = await asyncio.gather(sender.send(message("s")), probe.check(), return_exceptions=True)
        await asyncio.gather(sender.close(), probe.close())
    for error in (sent, asked):
        assert isinstance(error, BrokerUnavailableError)
        assert str(error) == "broker: ServiceBusAuthenticationError"


async def test_close_leaves_nothing_open(broker: Emulator, session_id: str) -> None:
    sockets, tasks = open_sockets(), asyncio.all_tasks()
    client = open_client(ServiceBusSettings(broker.connection_string, None))
    sender = QueueSender(client, "orders", send_seconds=10)
    probe = QueueProbe(client, "orders", probe_seconds=10)
    await asyncio.gather(sender.send(message(session_id)), probe.check())
    assert open_sockets() == sockets + 2
    await asyncio.gather(sender.close(), probe.close())
    await client.close()
    await asyncio.sleep(0)  # a transport closes its socket in the loop's next round
    assert open_sockets() == sockets
    assert asyncio.all_tasks() <= tasks


def open_sockets() -> int:
    """How many sockets this process has open."""
    gc.collect()
    return sum(isinstance(entry, socket.socket) and entry.fileno() != -1 for entry in gc.get_objects())
