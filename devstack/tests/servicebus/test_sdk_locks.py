"""Locks as the SDK sees them, while the broker's time is moved by hand."""

from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import MessageLockLostError, SessionLockLostError

from devstack.tests.servicebus.conftest import SteppedBroker


async def test_a_session_is_renewed_lost_and_delivered_again(stepped: SteppedBroker) -> None:
    async with ServiceBusClient.from_connection_string(stepped.connection_string, retry_total=0) as client:
        async with client.get_queue_sender("orders") as sender:
            await sender.send_messages([ServiceBusMessage(text, session_id="s") for text in ("1", "2")])
        async with client.get_queue_receiver("orders", session_id="s") as receiver:
            first = stepped.clock.now + timedelta(seconds=60)
            assert receiver.session.locked_until_utc is not None
            assert abs(receiver.session.locked_until_utc - first) < timedelta(milliseconds=1)
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            stepped.advance(50)
            renewed = await receiver.session.renew_lock()
            assert abs(renewed - stepped.clock.now - timedelta(seconds=60)) < timedelta(milliseconds=2)
            stepped.advance(59)
            await receiver.complete_message(one)
            (two,) = await receiver.receive_messages(1, max_wait_time=2)
            assert two.delivery_count == 0
            stepped.advance(1)
            with pytest.raises(SessionLockLostError):
                await receiver.complete_message(two)
            with pytest.raises(SessionLockLostError):
                await receiver.session.renew_lock()
            async with client.get_queue_receiver("orders", session_id="s") as next_one:
                (again,) = await next_one.receive_messages(1, max_wait_time=2)
                assert (str(again), again.delivery_count) == ("2", 1)
                await next_one.complete_message(again)


async def test_a_message_is_renewed_lost_and_delivered_again(stepped: SteppedBroker) -> None:
    async with ServiceBusClient.from_connection_string(stepped.connection_string, retry_total=0) as client:
        async with client.get_queue_sender("plain") as sender:
            await sender.send_messages(ServiceBusMessage("1"))
        async with client.get_queue_receiver("plain") as receiver:
            (one,) = await receiver.receive_messages(1, max_wait_time=2)
            first = stepped.clock.now + timedelta(seconds=60)
            assert one.locked_until_utc is not None
            assert abs(one.locked_until_utc - first) < timedelta(milliseconds=1)
            stepped.advance(50)
            renewed = await receiver.renew_message_lock(one)
            assert abs(renewed - stepped.clock.now - timedelta(seconds=60)) < timedelta(milliseconds=2)
            stepped.advance(60)
            with pytest.raises(MessageLockLostError):
                await receiver.renew_message_lock(one)
            with pytest.raises(MessageLockLostError):
                await receiver.complete_message(one)
            (again,) = await receiver.receive_messages(1, max_wait_time=2)
            assert again.delivery_count == 1
            await receiver.complete_message(again)
