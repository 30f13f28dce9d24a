"""The unmodified asynchronous SDK against the broker, over a real socket.

A handle costs it half a second to open and to close, so that tests share them and use sessions of their own.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import pytest
import pytest_asyncio
from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender
from azure.servicebus.exceptions import (
    OperationTimeoutError,
    ServiceBusError,
    SessionCannotBeLockedError,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(broker: str) -> AsyncIterator[ServiceBusClient]:
    async with ServiceBusClient.from_connection_string(broker, retry_total=0) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def orders(client: ServiceBusClient) -> AsyncIterator[ServiceBusSender]:
    async with client.get_queue_sender("orders") as sender:
        yield sender


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(client: ServiceBusClient) -> AsyncIterator[ServiceBusSender]:
    async with client.get_queue_sender("plain") as sender:
        yield sender


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def dead_letters(client: ServiceBusClient) -> AsyncIterator[ServiceBusReceiver]:
    async with client.get_queue_receiver("orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
        yield receiver


@asynccontextmanager
async def session(client: ServiceBusClient, session_id: str) -> AsyncIterator[ServiceBusReceiver]:
    async with client.get_queue_receiver("orders", session_id=session_id) as receiver:
        # The SDK only logs a warning when it cannot read the answer to its attach.
        assert receiver.session.session_id == session_id
        yield receiver


def texts(messages: Sequence[object]) -> list[str]:
    return [str(each) for each in messages]


async def test_one_many_and_a_batch_arrive_in_order(client: ServiceBusClient, orders: ServiceBusSender) -> None:
    await orders.send_messages(ServiceBusMessage("1", session_id="order"))
    await orders.send_messages([ServiceBusMessage(text, session_id="order") for text in ("2", "3")])
    batch = await orders.create_message_batch()
    for text in ("4", "5"):
        batch.add_message(ServiceBusMessage(text, session_id="order"))
    await orders.send_messages(batch)
    async with session(client, "order") as receiver:
        received = await receiver.receive_messages(10, max_wait_time=2)
        assert texts(received) == ["1", "2", "3", "4", "5"]
        for each in received:
            await receiver.complete_message(each)
        assert await receiver.peek_messages(10, sequence_number=1) == []


async def test_nothing_of_a_message_is_lost(client: ServiceBusClient, orders: ServiceBusSender) -> None:
    token = UUID("00112233-4455-6677-8899-aabbccddeeff")
    properties: dict[str | bytes, int | float | bytes | bool | str | UUID] = {
        "text": "ü",
        "number": 7,
        "ratio": 0.5,
        "flag": True,
        "id": token,
    }
    sent_at = datetime.now(UTC)
    await orders.send_messages(
        ServiceBusMessage(
            b"\x00body\xff",
            session_id="whole",
            message_id="whole-1",
            content_type="application/json",
            correlation_id="c",
            subject="s",
            to="t",
            reply_to="r",
            application_properties=properties,
        )
    )
    async with session(client, "whole") as receiver:
        (received,) = await receiver.receive_messages(1, max_wait_time=2)
        assert b"".join(received.body) == b"\x00body\xff"
        assert (received.message_id, received.session_id) == ("whole-1", "whole")
        assert (received.content_type, received.correlation_id) == ("application/json", "c")
        assert (received.subject, received.to, received.reply_to) == ("s", "t", "r")
        assert received.application_properties == {
            b"text": "ü".encode(),
            b"number": 7,
            b"ratio": 0.5,
            b"flag": True,
            b"id": token,
        }
        assert received.delivery_count == 0
        assert received.sequence_number is not None
        assert received.enqueued_sequence_number == received.sequence_number
        assert received.enqueued_time_utc is not None
        assert abs((received.enqueued_time_utc - sent_at).total_seconds()) < 5
        assert received.state.name == "ACTIVE"
        await receiver.complete_message(received)


async def test_the_next_session_is_the_one_that_gets_a_message(client: ServiceBusClient) -> None:
    async with client.get_queue_sender("next") as sender:
        waiting = client.get_queue_receiver("next", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=10)

        async def accept() -> str:
            async with waiting:
                (received,) = await waiting.receive_messages(1, max_wait_time=2)
                await waiting.complete_message(received)
                return str(waiting.session.session_id)

        accepting = asyncio.create_task(accept())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(accepting), 1)
        await sender.send_messages(ServiceBusMessage("late", session_id="arrives"))
        assert await asyncio.wait_for(accepting, 10) == "arrives"


async def test_without_a_session_the_wait_ends_in_time(client: ServiceBusClient) -> None:
    receiver = client.get_queue_receiver("other", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=1)
    started = asyncio.get_running_loop().time()
    with pytest.raises(OperationTimeoutError):
        await receiver.__aenter__()
    assert 0.9 < asyncio.get_running_loop().time() - started < 8
    await receiver.close()


async def test_a_session_has_one_receiver_and_a_clean_close_counts_nothing(
    client: ServiceBusClient, orders: ServiceBusSender
) -> None:
    await orders.send_messages(ServiceBusMessage("1", session_id="mine"))
    async with session(client, "mine") as receiver:
        assert texts(await receiver.receive_messages(1, max_wait_time=2)) == ["1"]
        second = client.get_queue_receiver("orders", session_id="mine")
        with pytest.raises(SessionCannotBeLockedError):
            await second.__aenter__()
        await second.close()
    async with session(client, "mine") as receiver:
        (again,) = await receiver.receive_messages(1, max_wait_time=2)
        assert again.delivery_count == 0
        await receiver.complete_message(again)


async def test_abandoned_to_the_end_it_is_dead_lettered(
    client: ServiceBusClient, orders: ServiceBusSender, dead_letters: ServiceBusReceiver
) -> None:
    await orders.send_messages([ServiceBusMessage(text, session_id="poison") for text in ("bad", "good")])
    async with session(client, "poison") as receiver:
        for count in range(3):
            (received,) = await receiver.receive_messages(1, max_wait_time=2)
            assert (str(received), received.delivery_count) == ("bad", count)
            await receiver.abandon_message(received)
        (received,) = await receiver.receive_messages(1, max_wait_time=2)
        assert str(received) == "good"
        await receiver.complete_message(received)
    (dead,) = await dead_letters.receive_messages(1, max_wait_time=2)
    assert (str(dead), dead.dead_letter_reason) == ("bad", "MaxDeliveryCountExceeded")
    assert (dead.dead_letter_source, dead.session_id) == ("orders", "poison")
    await dead_letters.complete_message(dead)


async def test_a_dead_letter_bears_its_reason(
    client: ServiceBusClient, orders: ServiceBusSender, dead_letters: ServiceBusReceiver
) -> None:
    await orders.send_messages(ServiceBusMessage("x", session_id="dead", application_properties={"own": 1}))
    async with session(client, "dead") as receiver:
        (received,) = await receiver.receive_messages(1, max_wait_time=2)
        await receiver.dead_letter_message(received, reason="Mismatch", error_description="not the same")
    assert received.sequence_number is not None
    (peeked,) = await dead_letters.peek_messages(1, sequence_number=received.sequence_number)
    (dead,) = await dead_letters.receive_messages(1, max_wait_time=2)
    for each in (peeked, dead):
        assert (each.dead_letter_reason, each.dead_letter_error_description) == ("Mismatch", "not the same")
        assert each.application_properties is not None
        assert each.application_properties[b"own"] == 1
    await dead_letters.complete_message(dead)


async def test_identical_message_ids_are_dropped(client: ServiceBusClient, orders: ServiceBusSender) -> None:
    for text in ("first", "second"):
        await orders.send_messages(ServiceBusMessage(text, session_id="twice", message_id="same"))
    async with session(client, "twice") as receiver:
        received = await receiver.receive_messages(2, max_wait_time=1)
        assert texts(received) == ["first"]
        await receiver.complete_message(received[0])


async def test_a_batch_with_one_invalid_message_leaves_nothing(
    client: ServiceBusClient, orders: ServiceBusSender
) -> None:
    batch = await orders.create_message_batch()
    batch.add_message(ServiceBusMessage("valid", session_id="batch"))
    batch.add_message(ServiceBusMessage("invalid"))
    with pytest.raises(ServiceBusError, match="SessionId"):
        await orders.send_messages(batch)
    async with session(client, "batch") as receiver:
        assert await receiver.receive_messages(1, max_wait_time=0.5) == []
    # The link lives on.
    await orders.send_messages(ServiceBusMessage("valid", session_id="batch"))


async def test_a_plain_queue_gives_back_what_was_fetched_in_advance(
    client: ServiceBusClient, plain: ServiceBusSender
) -> None:
    await plain.send_messages([ServiceBusMessage(str(number)) for number in range(5)])
    async with client.get_queue_receiver("plain", prefetch_count=5) as receiver:
        assert texts(await receiver.receive_messages(1, max_wait_time=2)) == ["0"]
    async with client.get_queue_receiver("plain") as receiver:
        received = await receiver.receive_messages(5, max_wait_time=2)
        while len(received) < 4:
            received += await receiver.receive_messages(5, max_wait_time=2)
        # The one that was handed out is still locked; those that were not are here, and not counted.
        assert [(str(each), each.delivery_count) for each in received] == [(str(n), 0) for n in range(1, 5)]
        for each in received:
            await receiver.complete_message(each)


async def test_peek_goes_page_by_page(client: ServiceBusClient) -> None:
    async with client.get_queue_sender("other") as sender:
        await sender.send_messages([ServiceBusMessage(str(number), session_id="p") for number in range(45)])
    async with client.get_queue_receiver("other", session_id="p") as receiver:
        await receiver.receive_messages(1, max_wait_time=2)
        seen: list[str] = []
        sequence_number = 1
        while page := await receiver.peek_messages(20, sequence_number=sequence_number):
            seen += texts(page)
            sequence_number = (page[-1].sequence_number or 0) + 1
        assert seen == [str(number) for number in range(45)]


KILLED = """
import sys
from azure.servicebus import ServiceBusClient
with ServiceBusClient.from_connection_string(sys.argv[1], retry_total=0) as client:
    with client.get_queue_receiver("orders", session_id="killed") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=5)
        print(message.delivery_count, flush=True)
        sys.stdin.read()
"""


async def test_a_killed_receivers_session_is_free_at_once_and_counted(
    client: ServiceBusClient, orders: ServiceBusSender, broker: str
) -> None:
    await orders.send_messages(ServiceBusMessage("x", session_id="killed"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, broker, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 20) == b"0\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()
    async with session(client, "killed") as receiver:
        (received,) = await receiver.receive_messages(1, max_wait_time=2)
        assert received.delivery_count == 1
        await receiver.complete_message(received)
