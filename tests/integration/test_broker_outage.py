"""A broker that dies, comes back, or does not answer: every send ends in time, and the same sender works again."""

import asyncio
import gc
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from shared.idempotency.errors import BrokerUnavailableError
from shared.outbox.outgoing import OutgoingMessage
from shared.servicebus.client import open_client
from shared.servicebus.sender import QueueProbe, QueueSender
from shared.settings import ServiceBusSettings
from tests.integration.emulators import Emulator, emulator

KEY = "a2V5LW9mLXRoZS10ZXN0cw=="
SEND_SECONDS = 2.5
# What a loaded machine may take on top of the bound.
SLACK_SECONDS = 5.0


# The SDK does not close the socket of every connection that it loses: the garbage collector does, and says so.
# Source: azure-servicebus 7.15.0, `_pyamqp.aio._client_async.close_async`: an error or an early return leaves it out.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(autouse=True)
async def _lost_connections() -> AsyncIterator[None]:
    """Collect them while their event loop still runs."""
    yield
    gc.collect()
    await asyncio.sleep(0)  # a transport closes its socket in the loop's next round


@asynccontextmanager
async def sending_to(
    broker: Emulator, *, seconds: float = SEND_SECONDS
) -> AsyncIterator[tuple[QueueSender, QueueProbe]]:
    """A sender and a probe whose links are warm."""
    async with open_client(ServiceBusSettings(broker.connection_string, None)) as client:
        sender = QueueSender(client, "orders", send_seconds=seconds)
        probe = QueueProbe(client, "orders", probe_seconds=seconds)
        await until_both_work(sender, probe)
        yield sender, probe
        await asyncio.gather(sender.close(), probe.close())


def message() -> OutgoingMessage:
    unique = uuid.uuid4().hex
    return OutgoingMessage(message_id=unique, session_id=unique, body=b"{}")


async def until_both_work(sender: QueueSender, probe: QueueProbe) -> None:
    """Call as a caller does who got a 503: again, until the answer is there."""

    async def until_it_works(call: Callable[[], Awaitable[None]]) -> None:
        for _ in range(20):
            try:
                return await call()
            except BrokerUnavailableError:
                await asyncio.sleep(0.1)
        raise AssertionError("it never works again")

    await asyncio.gather(until_it_works(lambda: sender.send(message())), until_it_works(probe.check))


async def assert_fails_in_time(*calls: Awaitable[None]) -> None:
    started = time.monotonic()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [BrokerUnavailableError] * len(calls)
    assert time.monotonic() - started < SEND_SECONDS + SLACK_SECONDS


async def test_the_same_sender_and_probe_work_again_after_the_broker_was_killed_and_started() -> None:
    with emulator("servicebus", "--key", KEY) as first:
        async with sending_to(first) as (sender, probe):
            first.kill()
            await assert_fails_in_time(sender.send(message()), probe.check())
            await assert_fails_in_time(sender.send(message()), probe.check())
            with emulator("servicebus", "--key", KEY, "--port", str(first.port)):
                await until_both_work(sender, probe)


async def test_a_broker_that_never_answers_fails_every_caller_in_time() -> None:
    with emulator("servicebus", "--key", KEY) as broker:
        async with sending_to(broker) as (sender, probe):
            with broker.frozen():
                await assert_fails_in_time(sender.send(message()), sender.send(message()), probe.check())
            await until_both_work(sender, probe)


async def test_opening_a_link_to_a_broker_that_never_answers_fails_in_time() -> None:
    with emulator("servicebus", "--key", KEY) as broker:
        async with open_client(ServiceBusSettings(broker.connection_string, None)) as client:
            sender = QueueSender(client, "orders", send_seconds=SEND_SECONDS)
            probe = QueueProbe(client, "orders", probe_seconds=SEND_SECONDS)
            with broker.frozen():
                await assert_fails_in_time(sender.send(message()), probe.check())
            await until_both_work(sender, probe)
            await asyncio.gather(sender.close(), probe.close())


async def test_a_caller_that_gives_up_in_the_middle_does_not_harm_the_next() -> None:
    with emulator("servicebus", "--key", KEY) as broker:
        async with sending_to(broker, seconds=30) as (sender, probe):
            with broker.frozen():
                sending, asking = asyncio.create_task(sender.send(message())), asyncio.create_task(probe.check())
                _, waiting = await asyncio.wait({sending, asking}, timeout=0.3)
                assert waiting == {sending, asking}
                sending.cancel()
                asking.cancel()
                results = await asyncio.gather(sending, asking, return_exceptions=True)
                assert [type(result) for result in results] == [asyncio.CancelledError] * 2
            await asyncio.gather(sender.send(message()), probe.check())


async def test_a_broker_that_is_not_there_from_the_beginning_fails_in_time() -> None:
    with emulator("servicebus", "--key", KEY) as broker:
        pass
    async with open_client(ServiceBusSettings(broker.connection_string, None)) as client:
        sender = QueueSender(client, "orders", send_seconds=SEND_SECONDS)
        probe = QueueProbe(client, "orders", probe_seconds=SEND_SECONDS)
        await assert_fails_in_time(sender.send(message()), probe.check())
        with pytest.raises(BrokerUnavailableError, match=r"^broker: \w+$"):
            await sender.send(message())
        await asyncio.gather(sender.close(), probe.close())
