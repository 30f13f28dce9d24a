"""The project's own client against the broker, over a real socket."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient

from devstack.servicebus.client import (
    Abandon,
    Complete,
    Connection,
    ConnectionLost,
    DeadLetter,
    EntityNotFound,
    NotAuthorized,
    SessionCannotBeLocked,
    SessionLockLost,
    SessionNotSupported,
    SessionReceiver,
    SettlementRejected,
    received_message,
)
from devstack.servicebus.client.wire import Wire
from devstack.tests.servicebus.conftest import SteppedBroker
from devstack.tests.servicebus.kit import Relay


@pytest_asyncio.fixture
async def connection(stepped: SteppedBroker) -> AsyncIterator[Connection]:
    opened = await Connection.open(stepped.connection_string)
    yield opened
    await opened.close()


async def send(broker: SteppedBroker, *texts: str, session_id: str = "s") -> None:
    async with (
        ServiceBusClient.from_connection_string(broker.connection_string, retry_total=0) as client,
        client.get_queue_sender("orders") as sender,
    ):
        await sender.send_messages([ServiceBusMessage(text, session_id=session_id, message_id=text) for text in texts])


async def accepted(connection: Connection, session_id: str | None = None) -> SessionReceiver:
    receiver = await connection.accept_session("orders", session_id=session_id, timeout_seconds=5)
    assert receiver is not None
    return receiver


async def test_a_session_is_worked_off(stepped: SteppedBroker, connection: Connection) -> None:
    await send(stepped, "a", "b")
    receiver = await accepted(connection)
    assert receiver.session_id == "s"
    expected = stepped.clock.now + timedelta(seconds=60)
    assert abs(receiver.locked_until - expected) < timedelta(milliseconds=1)
    for text, outcome, count in (
        ("a", Abandon(), 0),
        ("a", DeadLetter("why", "because"), 1),
        ("b", Complete(), 0),
    ):
        delivery = await receiver.receive(5)
        assert delivery is not None
        assert delivery.message.properties.message_id == text
        assert delivery.message.header.delivery_count == count
        await receiver.settle(delivery, outcome)
        with pytest.raises(SettlementRejected):
            await receiver.settle(delivery, outcome)
    assert await receiver.receive(0.01) is None
    (dead,) = await connection.peek("orders/$DeadLetterQueue", 10)
    assert dead.application_properties == {
        "DeadLetterReason": "why",
        "DeadLetterErrorDescription": "because",
    }
    assert await connection.peek("orders", 10) == []


async def test_an_empty_receive_leaves_no_credit_behind(stepped: SteppedBroker, connection: Connection) -> None:
    receiver = await accepted(connection, "s")
    assert await receiver.receive(0.01) is None
    await send(stepped, "a")
    # Had the credit stayed, the message would be under way to nobody, and its count would rise below.
    await receiver.close()
    again = await accepted(connection)
    delivery = await again.receive(5)
    assert delivery is not None
    assert delivery.message.header.delivery_count == 0


async def test_a_cancelled_receive_loses_nothing(stepped: SteppedBroker, connection: Connection) -> None:
    receiver = await accepted(connection, "s")
    waiting = asyncio.create_task(receiver.receive(60))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await send(stepped, "a", "b")
    for text in ("a", "b"):
        delivery = await receiver.receive(5)
        assert delivery is not None
        assert delivery.message.properties.message_id == text


async def test_without_session_the_answer_is_none(connection: Connection) -> None:
    assert await connection.accept_session("orders", timeout_seconds=0) is None


async def test_a_cancelled_accept_takes_no_session(stepped: SteppedBroker, connection: Connection) -> None:
    waiting = asyncio.create_task(connection.accept_session("orders", timeout_seconds=60))
    # One connection is served in order: after this answer the broker knows who waits.
    await connection.peek("orders", 1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await send(stepped, "a")
    assert (await accepted(connection)).session_id == "s"


async def test_refusals_are_told_apart(stepped: SteppedBroker, connection: Connection) -> None:
    with pytest.raises(EntityNotFound, match="nowhere"):
        await connection.accept_session("nowhere", timeout_seconds=1)
    with pytest.raises(SessionNotSupported):
        await connection.accept_session("plain", timeout_seconds=1)
    await accepted(connection, "taken")
    with pytest.raises(SessionCannotBeLocked):
        await connection.accept_session("orders", session_id="taken", timeout_seconds=1)
    wrong = await Connection.open(stepped.connection_string.replace("AccessKey=", "AccessKey=not-"))
    with pytest.raises(NotAuthorized):
        await wrong.accept_session("orders", timeout_seconds=1)
    await wrong.close()


async def test_a_lost_lock_is_told_by_everything(stepped: SteppedBroker, connection: Connection) -> None:
    await send(stepped, "a")
    receiver = await accepted(connection)
    delivery = await receiver.receive(5)
    assert delivery is not None
    stepped.advance(30)
    renewed = await receiver.renew_lock()
    assert renewed == receiver.locked_until
    assert abs(renewed - stepped.clock.now - timedelta(seconds=60)) < timedelta(milliseconds=2)
    stepped.advance(60)
    with pytest.raises(SessionLockLost):
        await receiver.settle(delivery, Complete())
    with pytest.raises(SessionLockLost):
        await receiver.renew_lock()
    # The dead link still answers, so that its user finds the end of its own accord.
    assert await receiver.receive(0.01) is None
    await receiver.close()
    again = await (await accepted(connection)).receive(5)
    assert again is not None
    assert again.message.header.delivery_count == 1


async def test_many_sessions_share_a_connection(stepped: SteppedBroker, connection: Connection) -> None:
    names = [f"s{number}" for number in range(40)]
    for name in names:
        await accepted(connection, name)
    receivers = [await accepted(connection, f"t{number}") for number in range(40)]
    await asyncio.gather(*(receiver.renew_lock() for receiver in receivers))
    await asyncio.gather(*(receiver.close() for receiver in receivers))
    assert (await accepted(connection, "t0")).session_id == "t0"


async def test_a_lost_connection_fails_what_waits_and_frees_the_sessions(stepped: SteppedBroker) -> None:
    await send(stepped, "a")
    relay = await Relay.open(stepped.target.port)
    connection = await Connection.open(relay.through(stepped.connection_string))
    receiver = await accepted(connection)
    delivery = await receiver.receive(5)
    assert delivery is not None
    waiting = asyncio.create_task(receiver.receive(60))
    accepting = asyncio.create_task(connection.accept_session("orders", timeout_seconds=60))
    await asyncio.sleep(0)
    relay.drop()
    for task in (waiting, accepting):
        with pytest.raises(ConnectionLost):
            await task
    assert connection.closed.is_set()
    with pytest.raises(ConnectionLost):
        await receiver.settle(delivery, Complete())
    with pytest.raises(ConnectionLost):
        await connection.accept_session("orders", timeout_seconds=1)
    await receiver.close()
    await connection.close()
    second = await Connection.open(stepped.connection_string)
    again = await (await accepted(second)).receive(5)
    assert again is not None
    assert again.message.header.delivery_count == 1
    await second.close()


async def test_a_broker_that_never_answers_is_given_up(stepped: SteppedBroker) -> None:
    relay = await Relay.open(stepped.target.port)
    wire = Wire("127.0.0.1")
    await asyncio.get_running_loop().create_connection(lambda: wire, "127.0.0.1", relay.port)
    await wire.opened
    with pytest.raises(ConnectionLost, match=r"did not answer within 0\.01 s"):
        async with wire.operation(0.01):
            await asyncio.Event().wait()
    await asyncio.wait_for(wire.closed.wait(), 5)
    relay.drop()


async def test_nobody_at_the_port(stepped: SteppedBroker) -> None:
    await stepped.server.stop()
    with pytest.raises(ConnectionLost, match=str(stepped.target.port)):
        await Connection.open(stepped.connection_string)


async def test_the_hosts_content_is_read_by_the_sdk(stepped: SteppedBroker, connection: Connection) -> None:
    await send(stepped, "a")
    receiver = await accepted(connection)
    delivery = await receiver.receive(5)
    assert delivery is not None
    content = received_message(delivery)
    # Header first: durable to first-acquirer as sent, delivery count 1; then the one delivery annotation.
    assert content.startswith(bytes.fromhex("00 53 70 c0 07 05 40 40 40 40 52 01 00 53 71 c1 24 02 a3 10"))
    read = ServiceBusReceivedMessage.from_bytes(content)
    assert (str(read), read.message_id, read.session_id) == ("a", "a", "s")
    assert (read.delivery_count, read.sequence_number) == (1, 1)
    assert read.lock_token == delivery.lock_token
