"""Who leaves takes nothing along: whatever a client held or waited for is there for the next one."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from devstack.servicebus.amqp.frames import amqp_frame
from devstack.servicebus.amqp.performatives import (
    Attach,
    Close,
    Detach,
    Disposition,
    End,
    Flow,
    Modified,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.types import Int, Value
from devstack.tests.servicebus.conftest import SteppedBroker
from devstack.tests.servicebus.raw_client import (
    RawClient,
    disposition,
    encoded,
    numbered,
    send_all,
    session_attach,
    take,
)


async def holding(dotnet: RawClient) -> None:
    """Hold two sessions on one connection, each with a message in hand, and wait twice for a third."""
    await send_all(dotnet, 1, "/orders", numbered("a", "x"), numbered("b", "y"))
    for channel, session_id in ((2, "x"), (3, "y")):
        await dotnet.attach_session(channel, session_id, credit=1)
        await take(dotnet)
    for channel in (4, 5):
        await dotnet.begin(channel)
        dotnet.send(channel, session_attach(f"next-{channel}", None, timeout_ms=60_000))
    assert await dotnet.is_silent()


async def next_counts(stepped: SteppedBroker) -> dict[object, object]:
    """Take both sessions as another client, and return the delivery counts by message id."""
    other = await RawClient.open(stepped.target)
    counts: dict[object, object] = {}
    for channel in (1, 2):
        await other.attach_session(channel, None, credit=1)
        _, message = await take(other)
        counts[message.properties.message_id] = message.header.delivery_count
    other.close()
    return counts


async def close(dotnet: RawClient) -> None:
    dotnet.send(0, Close())
    while not isinstance(await dotnet.read(), Close):
        pass


async def cut(dotnet: RawClient) -> None:
    dotnet.close()


@pytest.mark.parametrize(("leave", "count"), [(close, 0), (cut, 1)])
async def test_a_connection_with_holders_and_waiters_leaves_everything(
    stepped: SteppedBroker, dotnet: RawClient, leave: Callable[[RawClient], Awaitable[None]], count: int
) -> None:
    await holding(dotnet)
    await leave(dotnet)
    assert await next_counts(stepped) == {"a": count, "b": count}


async def test_an_ended_session_gives_its_locks_to_nobody_inside_it(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a", "x"), numbered("b", "y"))
    await dotnet.begin(2)
    for handle, session_id in enumerate(("x", "y")):
        attach = session_attach(f"held-{handle}", session_id)
        attach.handle = handle
        await dotnet.attach(2, attach)
    waiter = session_attach("waiter", None, timeout_ms=60_000)
    waiter.handle = 2
    dotnet.send(2, waiter)
    assert await dotnet.is_silent()
    dotnet.send(2, End())
    assert await dotnet.read() == End()
    assert await next_counts(stepped) == {"a": 0, "b": 0}


async def test_credit_and_farewell_in_one_write(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a", "x"), numbered("b", "y"))
    await dotnet.attach_session(2, "x")
    frames = (Flow(0, 5000, 1, 5000, 0, 0, 5), Detach(0, closed=True), End())
    dotnet.write(b"".join(amqp_frame(2, frame) for frame in frames))
    await take(dotnet)
    assert await dotnet.read() == Detach(0, closed=True)
    assert await dotnet.read() == End()
    assert await next_counts(stepped) == {"a": 0, "b": 0}


async def test_a_wait_and_its_cancel_in_one_write(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await dotnet.begin(2)
    frames = (session_attach("next", None), Detach(0, closed=True), End())
    dotnet.write(b"".join(amqp_frame(2, frame) for frame in frames))
    assert await dotnet.read() == Detach(0, closed=True)
    assert await dotnet.read() == End()
    await send_all(dotnet, 1, "/orders", numbered("a", "x"), numbered("b", "y"))
    assert await next_counts(stepped) == {"a": 0, "b": 0}


async def test_a_dead_consumer_of_dead_letters_gets_none(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a", "x"))
    await dotnet.attach_session(3, "x")
    await dotnet.begin(2)
    dead = Source("orders/$DeadLetterQueue")
    await dotnet.attach(2, Attach("dead", 0, True, 0, 1, dead, Target("me")))
    dotnet.send(2, Flow(0, 5000, 1, 5000, 0, 0, 1))
    dotnet.send(3, Flow(0, 5000, 1, 5000, 0, 0, 3))
    for _ in range(2):
        transfer, _ = await take(dotnet)
        dotnet.send(3, disposition(transfer, Modified(True)))
        if not isinstance(await dotnet.read(), Disposition):
            pytest.fail("the echo comes before the message comes again")
    await take(dotnet)
    # The third failed delivery, which is the last one, is the end of the connection itself.
    dotnet.close()
    other = await RawClient.open(stepped.target)
    await other.begin(1)
    await other.attach(1, Attach("dead", 0, True, 0, 1, dead, Target("me")))
    other.send(1, Flow(0, 5000, 1, 5000, 0, 0, 1))
    _, message = await take(other)
    assert message.application_properties["DeadLetterReason"] == "MaxDeliveryCountExceeded"
    other.close()


async def test_a_client_that_does_not_read_cannot_hold_the_broker_up(stepped: SteppedBroker, dotnet: RawClient) -> None:
    large = encoded("x" * 200_000, ["large"])
    await send_all(dotnet, 1, "/plain", *[large] * 3)
    await dotnet.attach_requests(2, "plain/$management")
    body: dict[Value, Value] = {"from-sequence-number": 0, "message-count": Int(3)}
    properties: list[Value] = ["id", None, None, None, "plain/$management-answers"]
    request = encoded(body, properties, {"operation": "com.microsoft:peek-message"})
    # Thirty megabytes of answers, far more than the system buffers; the first frame shows that they are under way.
    for number in range(50):
        dotnet.send(2, Transfer(0, number, number.to_bytes(4), 0, False, False), request)
    await dotnet.read()
    async with asyncio.timeout(5):
        await stepped.server.stop(grace_seconds=0.05)
