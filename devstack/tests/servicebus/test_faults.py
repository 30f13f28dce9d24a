"""Faults that a test asks for, as the real SDK meets them."""

import asyncio
import json
from typing import Any

import pytest
from azure.core.exceptions import AzureError
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import ServiceBusServerBusyError, SessionLockLostError

from devstack.control import FaultError
from devstack.servicebus.client import Abandon, Complete, SettlementRejected
from devstack.servicebus.client.connection import Connection
from devstack.servicebus.faults import FaultBook
from devstack.tests.servicebus.conftest import SteppedBroker


def ask(broker: SteppedBroker, fault: dict[str, Any], **rule: Any) -> None:  # noqa: ANN401 - JSON
    broker.server.faults.add(json.dumps({"fault": fault, **rule}).encode())


def met(broker: SteppedBroker) -> list[object]:
    return [entry["met"] for entry in broker.server.faults.report()]


def client_of(broker: SteppedBroker) -> ServiceBusClient:
    return ServiceBusClient.from_connection_string(broker.connection_string, retry_total=0)


async def send(client: ServiceBusClient, *texts: str) -> None:
    async with client.get_queue_sender("orders") as sender:
        await sender.send_messages([ServiceBusMessage(text, session_id="s", message_id=text) for text in texts])


async def texts(client: ServiceBusClient) -> list[tuple[str, int | None]]:
    """What is in the session, with its delivery count; it stays there."""
    async with client.get_queue_receiver("orders", session_id="s") as receiver:
        return [
            (str(message), message.delivery_count) for message in await receiver.peek_messages(10, sequence_number=1)
        ]


async def test_a_lock_that_runs_out_now(stepped: SteppedBroker) -> None:
    async with client_of(stepped) as client:
        await send(client, "1")
        async with client.get_queue_receiver("orders", session_id="s") as receiver:
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            ask(stepped, {"type": "expiredLock", "queue": "ORDERS", "sessionId": "s"})
            with pytest.raises(SessionLockLostError):
                await receiver.complete_message(one)
        assert await texts(client) == [("1", 1)]


@pytest.mark.parametrize(
    ("queue", "reason"),
    [("orders", "nobody holds session s"), ("plain", "nobody holds session s"), ("nowhere", "could not be found")],
)
async def test_a_lock_that_nobody_holds(stepped: SteppedBroker, queue: str, reason: str) -> None:
    with pytest.raises(FaultError, match=reason):
        ask(stepped, {"type": "expiredLock", "queue": queue, "sessionId": "s"})


@pytest.mark.parametrize("fault", [{"type": "droppedConnections"}, {"type": "droppedConnections", "sessionId": "s"}])
async def test_dropped_connections(stepped: SteppedBroker, fault: dict[str, Any]) -> None:
    async with client_of(stepped) as client:
        await send(client, "1")
        receiver = client.get_queue_receiver("orders", session_id="s")
        async with receiver:
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            with pytest.raises(FaultError, match="nobody holds session another"):
                ask(stepped, {"type": "droppedConnections", "sessionId": "another"})
            await receiver.session.renew_lock()
            ask(stepped, fault)
            with pytest.raises(AzureError):
                await receiver.complete_message(one)
        assert await texts(client) == [("1", 1)]


async def test_a_busy_server_takes_nothing(stepped: SteppedBroker) -> None:
    async with client_of(stepped) as client:
        ask(stepped, {"type": "serverBusy"})
        with pytest.raises(ServiceBusServerBusyError):
            await send(client, "1")
        assert await texts(client) == []
        await send(client, "2")
        assert await texts(client) == [("2", 0)]
    assert met(stepped) == [1]


@pytest.mark.parametrize("applied", [False, True])
async def test_a_send_that_is_not_answered(stepped: SteppedBroker, applied: bool) -> None:
    async with client_of(stepped) as client:
        ask(stepped, {"type": "lostAcceptance", "applied": applied})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await send(client, "1")
        assert await texts(client) == ([("1", 0)] if applied else [])


async def test_a_settlement_that_nobody_waited_for_is_made_by_the_next(stepped: SteppedBroker) -> None:
    async with client_of(stepped) as client:
        await send(client, "1", "2")
    connection = await Connection.open(stepped.connection_string)
    try:
        receiver = await connection.accept_session("orders", timeout_seconds=2)
        assert receiver is not None
        one = await receiver.receive(2)
        assert one is not None
        ask(stepped, {"type": "lostEcho", "applied": False})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await receiver.settle(one, Complete())
        await receiver.settle(one, Abandon())
        again = await receiver.receive(2)
        assert again is not None
        # The same message before the next one, with its count raised.
        assert (again.message.header.delivery_count, again.message.properties.message_id) == (1, "1")
        with pytest.raises(SettlementRejected):
            await receiver.settle(one, Complete())
    finally:
        await connection.close()


@pytest.mark.parametrize("applied", [False, True])
async def test_a_settlement_that_is_not_answered(stepped: SteppedBroker, applied: bool) -> None:
    async with client_of(stepped) as client:
        await send(client, "1", "2")
        async with client.get_queue_receiver("orders", session_id="s") as receiver:
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            ask(stepped, {"type": "lostEcho", "applied": applied})
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await receiver.complete_message(one)
            left = [str(message) for message in await receiver.peek_messages(10, sequence_number=1)]
        assert left == (["2"] if applied else ["1", "2"])


async def test_a_settlement_that_is_forgotten(stepped: SteppedBroker) -> None:
    async with client_of(stepped) as client:
        await send(client, "1")
        ask(stepped, {"type": "forgottenSettlement"})
        async with client.get_queue_receiver("orders", session_id="s") as receiver:
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            await receiver.complete_message(one)
            (again,) = await receiver.receive_messages(1, max_wait_time=2)
            assert (str(again), again.delivery_count) == ("1", 1)
            await receiver.complete_message(again)
        assert await texts(client) == []


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (b"", "truncated"),
        (b'{"fault":{"type":"explode"}}', "Invalid value 'explode'"),
        (b'{"fault":{"type":"expiredLock","queue":"orders"}}', "missing required field `sessionId`"),
        (b'{"fault":{"type":"serverBusy"},"often":2}', "unknown field `often`"),
    ],
)
async def test_what_is_no_fault_is_told(stepped: SteppedBroker, rule: bytes, fault: str) -> None:
    with pytest.raises(FaultError, match=fault):
        stepped.server.faults.add(rule)


def test_a_fault_ends_with_its_count_its_time_or_when_it_is_forgotten() -> None:
    now = 10.0
    book = FaultBook(lambda act: None, lambda: now)
    book.add(b'{"fault":{"type":"lostEcho"}}')
    book.add(b'{"fault":{"type":"serverBusy"},"times":null,"seconds":2}')
    assert [book.of_settlement() is None for _ in range(2)] == [False, True]
    assert book.of_send() is not None
    now = 12.0
    assert book.of_send() is None
    book.clear()
    assert book.report() == []
