"""Links and sessions in the shape of the .NET client, the one inside the Functions host, by hand.

Source: Azure.Messaging.ServiceBus 7.21.0 on Microsoft.Azure.Amqp 2.7.3, as measured.
"""

from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Detach,
    End,
    Flow,
    Source,
    Target,
)
from devstack.tests.servicebus.conftest import SteppedBroker
from devstack.tests.servicebus.raw_client import (
    RawClient,
    condition_of,
    disposition,
    numbered,
    send_all,
    session_attach,
    take,
)

SESSION_LOCK_LOST = "com.microsoft:session-lock-lost"


async def test_the_attach_says_what_the_client_builds_on(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"))
    answer = await dotnet.attach_session(2, None)
    assert isinstance(answer.source, Source)
    assert answer.source.address == "/orders"
    assert answer.source.filter == {"com.microsoft:session-filter": "s"}
    assert (answer.name, answer.handle, answer.role) == ("session-2", 0, False)
    assert (answer.initial_delivery_count, answer.max_message_size) == (0, 262144)
    assert answer.target == Target("session-2")
    # .NET ticks of the lock's end, 60 s from now: 100 ns each, since the year 1.
    locked_until = (stepped.clock.now.timestamp() + 60) * 10_000_000 + 621_355_968_000_000_000
    assert answer.properties is not None
    ticks = answer.properties["com.microsoft:locked-until-utc"]
    assert type(ticks) is int
    assert abs(ticks - locked_until) < 10_000


async def test_a_delivery_has_what_the_client_reads(dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"))
    await dotnet.attach_session(2, "s", credit=1)
    transfer, message = await take(dotnet)
    assert transfer.delivery_tag is not None
    assert len(transfer.delivery_tag) == 16
    assert (transfer.message_format, transfer.settled, transfer.more) == (0, False, False)
    # durable, priority, ttl and first-acquirer null, delivery-count 0
    assert message.sections.header == bytes.fromhex("c0 06 05 40 40 40 40 43")
    assert list(message.message_annotations) == [
        "x-opt-sequence-number",
        "x-opt-enqueue-sequence-number",
        "x-opt-enqueued-time",
        "x-opt-message-state",
        "x-opt-locked-until",
    ]


async def test_heartbeats_come_in_half_of_the_idle_time_out(stepped: SteppedBroker) -> None:
    dotnet = await RawClient.open(stepped.target, idle_time_out=100)
    assert await dotnet.read_frame() == b""
    assert await dotnet.read_frame() == b""
    dotnet.close()


async def test_a_drain_at_idle_is_answered(dotnet: RawClient) -> None:
    await dotnet.attach_session(1, "idle")
    dotnet.send(1, Flow(0, 5000, 1, 5000, 0, 0, 7, drain=True))
    answer = await dotnet.read()
    assert isinstance(answer, Flow)
    assert (answer.handle, answer.delivery_count, answer.link_credit, answer.drain) == (0, 7, 0, True)


async def test_a_wait_for_a_session_ends_to_the_millisecond(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await dotnet.begin(1)
    dotnet.send(1, session_attach("next", None, timeout_ms=59_880))
    assert await dotnet.is_silent()
    stepped.advance(59.879)
    assert await dotnet.is_silent()
    stepped.advance(0.001)
    answer, detach = await dotnet.read(), await dotnet.read()
    assert isinstance(answer, Attach)
    assert answer.source is None
    assert isinstance(detach, Detach)
    assert detach.closed
    assert detach.error is not None
    assert detach.error.condition == "com.microsoft:timeout"


async def test_a_cancelled_wait_is_answered_by_a_detach_alone(dotnet: RawClient) -> None:
    await dotnet.begin(1)
    dotnet.send(1, session_attach("next", None, timeout_ms=60_000))
    dotnet.send(1, Detach(0, closed=True))
    dotnet.send(1, End())
    assert await dotnet.read() == Detach(0, closed=True)
    assert await dotnet.read() == End()
    await send_all(dotnet, 1, "/orders", numbered("a"))
    await dotnet.attach_session(2, None, credit=1)
    _, message = await take(dotnet)
    assert message.header.delivery_count == 0


async def test_a_lost_session_keeps_its_link_and_says_so_everywhere(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"), numbered("b"))
    await dotnet.attach_session(2, "s", credit=1)
    transfer, _ = await take(dotnet)
    await dotnet.attach_requests(3, "orders/$management")
    stepped.advance(60)
    assert await dotnet.is_silent(), "a detach would dispose the client's receiver"
    dotnet.send(2, disposition(transfer, Accepted()))
    assert condition_of(await dotnet.read()) == SESSION_LOCK_LOST
    answer = await dotnet.request(
        3,
        "orders/$management",
        {"operation": "com.microsoft:renew-session-lock", "associated-link-name": "session-2"},
        {"session-id": "s"},
    )
    assert answer.application_properties["statusCode"] == 410
    assert answer.application_properties["errorCondition"] == SESSION_LOCK_LOST
    dotnet.send(2, Flow(1, 5000, 1, 5000, 0, 1, 5, drain=True))
    drained = await dotnet.read()
    assert isinstance(drained, Flow)
    assert (drained.delivery_count, drained.link_credit) == (6, 0)
    dotnet.send(2, Detach(0, closed=True))
    assert await dotnet.read() == Detach(0, closed=True)
    await dotnet.attach_session(4, "s", credit=1)
    _, again = await take(dotnet)
    assert (again.properties.message_id, again.header.delivery_count) == ("a", 1)


async def test_a_late_disposition_is_late_even_if_the_timer_is_later(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"))
    await dotnet.attach_session(2, "s", credit=1)
    transfer, _ = await take(dotnet)
    stepped.clock.advance(60)  # and nothing tells the broker so
    dotnet.send(2, disposition(transfer, Accepted()))
    assert condition_of(await dotnet.read()) == SESSION_LOCK_LOST


async def test_only_the_holders_link_may_renew(dotnet: RawClient) -> None:
    await dotnet.attach_session(1, "s")
    await dotnet.attach_session(2, "other")
    await dotnet.attach_requests(3, "orders/$management")
    for link_name, status in (("session-1", 200), ("session-2", 410), (None, 410)):
        answer = await dotnet.request(
            3,
            "orders/$management",
            {"operation": "com.microsoft:renew-session-lock", "associated-link-name": link_name},
            {"session-id": "s"},
        )
        assert answer.application_properties["statusCode"] == status
