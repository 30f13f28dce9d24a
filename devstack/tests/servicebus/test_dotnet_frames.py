"""Frames in the shape of the .NET client, which is the one inside the Functions host, scripted by hand.

Source: Azure.Messaging.ServiceBus 7.21.0 on Microsoft.Azure.Amqp 2.7.3, as measured.
"""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest_asyncio

from devstack.servicebus.amqp.encode import encode, uuid_array
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Detach,
    Disposition,
    End,
    Error,
    Flow,
    Modified,
    Rejected,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import Described, Float, Int, Symbol, ULong, Value
from devstack.tests.servicebus.conftest import SteppedBroker
from devstack.tests.servicebus.raw_client import RawClient, encoded, session_attach

BATCH = 0x80013700
SESSION_LOCK_LOST = "com.microsoft:session-lock-lost"


@pytest_asyncio.fixture
async def client(stepped: SteppedBroker) -> AsyncIterator[RawClient]:
    opened = await RawClient.open(stepped.target)
    yield opened
    opened.close()


def numbered(text: str, session_id: str | None = "s") -> bytes:
    """A message with properties up to the session id."""
    return encoded(text, [text, *[None] * 9, session_id])


async def send(client: RawClient, channel: int, node: str, *payloads: bytes, message_format: int = 0) -> object:
    """Send over a sender of its own; returns the last outcome."""
    await client.begin(channel)
    await client.attach(channel, Attach(f"sender-{channel}", 0, False, source=Source("me"), target=Target(node)))
    outcome: object = None
    for number, payload in enumerate(payloads):
        client.send(channel, Transfer(0, number, number.to_bytes(4), message_format, False, False), payload)
        answer = await client.read()
        assert isinstance(answer, Disposition)
        assert (answer.role, answer.first, answer.settled) == (True, number, True)
        outcome = answer.state
    return outcome


async def take(client: RawClient) -> tuple[Transfer, Message]:
    """Read a delivery."""
    transfer, payload = await client.read_with_payload()
    assert isinstance(transfer, Transfer)
    return transfer, Message.parse(payload)


def disposition(transfer: Transfer, state: Accepted | Modified | Rejected) -> Disposition:
    assert transfer.delivery_id is not None
    return Disposition(True, transfer.delivery_id, None, False, state)


def condition_of(performative: object) -> str:
    """The condition of a settled disposition that rejects."""
    assert isinstance(performative, Disposition)
    assert (performative.role, performative.settled) == (False, True)
    assert isinstance(performative.state, Rejected)
    assert performative.state.error is not None
    return performative.state.error.condition


async def test_the_attach_says_what_the_client_builds_on(stepped: SteppedBroker, client: RawClient) -> None:
    await send(client, 1, "/orders", numbered("a"))
    answer = await client.attach_session(2, None)
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


async def test_a_delivery_has_what_the_client_reads(client: RawClient) -> None:
    await send(client, 1, "/orders", numbered("a"))
    await client.attach_session(2, "s", credit=1)
    transfer, message = await take(client)
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
    client = await RawClient.open(stepped.target, idle_time_out=100)
    assert await client.read_frame() == b""
    assert await client.read_frame() == b""
    client.close()


async def test_a_drain_at_idle_is_answered(client: RawClient) -> None:
    await client.attach_session(1, "idle")
    client.send(1, Flow(0, 5000, 1, 5000, 0, 0, 7, drain=True))
    answer = await client.read()
    assert isinstance(answer, Flow)
    assert (answer.handle, answer.delivery_count, answer.link_credit, answer.drain) == (0, 7, 0, True)


async def test_a_wait_for_a_session_ends_to_the_millisecond(stepped: SteppedBroker, client: RawClient) -> None:
    await client.begin(1)
    client.send(1, session_attach("next", None, timeout_ms=59_880))
    assert await client.is_silent()
    stepped.advance(59.879)
    assert await client.is_silent()
    stepped.advance(0.001)
    answer, detach = await client.read(), await client.read()
    assert isinstance(answer, Attach)
    assert answer.source is None
    assert isinstance(detach, Detach)
    assert detach.closed
    assert detach.error is not None
    assert detach.error.condition == "com.microsoft:timeout"


async def test_a_cancelled_wait_is_answered_by_a_detach_alone(client: RawClient) -> None:
    await client.begin(1)
    client.send(1, session_attach("next", None, timeout_ms=60_000))
    client.send(1, Detach(0, closed=True))
    client.send(1, End())
    assert await client.read() == Detach(0, closed=True)
    assert await client.read() == End()
    await send(client, 1, "/orders", numbered("a"))
    await client.attach_session(2, None, credit=1)
    _, message = await take(client)
    assert message.header.delivery_count == 0


async def test_a_lost_session_keeps_its_link_and_says_so_everywhere(stepped: SteppedBroker, client: RawClient) -> None:
    await send(client, 1, "/orders", numbered("a"), numbered("b"))
    await client.attach_session(2, "s", credit=1)
    transfer, _ = await take(client)
    await client.attach_requests(3, "orders/$management")
    stepped.advance(60)
    assert await client.is_silent(), "a detach would dispose the client's receiver"
    client.send(2, disposition(transfer, Accepted()))
    assert condition_of(await client.read()) == SESSION_LOCK_LOST
    answer = await client.request(
        3,
        "orders/$management",
        {"operation": "com.microsoft:renew-session-lock", "associated-link-name": "session-2"},
        {"session-id": "s"},
    )
    assert answer.application_properties["statusCode"] == 410
    assert answer.application_properties["errorCondition"] == SESSION_LOCK_LOST
    client.send(2, Flow(1, 5000, 1, 5000, 0, 1, 5, drain=True))
    drained = await client.read()
    assert isinstance(drained, Flow)
    assert (drained.delivery_count, drained.link_credit) == (6, 0)
    client.send(2, Detach(0, closed=True))
    assert await client.read() == Detach(0, closed=True)
    await client.attach_session(4, "s", credit=1)
    _, again = await take(client)
    assert (again.properties.message_id, again.header.delivery_count) == ("a", 1)


async def test_only_the_holders_link_may_renew(client: RawClient) -> None:
    await client.attach_session(1, "s")
    await client.attach_session(2, "other")
    await client.attach_requests(3, "orders/$management")
    for link_name, status in (("session-1", 200), ("session-2", 410), (None, 410)):
        answer = await client.request(
            3,
            "orders/$management",
            {"operation": "com.microsoft:renew-session-lock", "associated-link-name": link_name},
            {"session-id": "s"},
        )
        assert answer.application_properties["statusCode"] == status


async def test_a_disposition_of_nothing_known_is_answered(client: RawClient) -> None:
    await client.attach_session(1, "s")
    client.send(1, Disposition(True, 41, 43, False, Accepted()))
    answer = await client.read()
    assert condition_of(answer) == "amqp:not-found"
    assert isinstance(answer, Disposition)
    assert (answer.first, answer.last) == (41, 43)


async def test_abandon_with_properties_to_modify_merges_them(client: RawClient) -> None:
    original = encoded("x", ["m", *[None] * 9, "s"], {"kept": Float(0.5), "changed": 1})
    await send(client, 1, "/orders", original)
    await client.attach_session(2, "s", credit=2)
    transfer, _ = await take(client)
    modified = Modified(None, None, {Symbol("changed"): Int(2), Symbol("added"): "new"})
    client.send(2, disposition(transfer, modified))
    # Credit is still there, so the message comes again before or after the echo.
    answers = [await client.read_with_payload(), await client.read_with_payload()]
    (echo,) = [answer for answer, _ in answers if isinstance(answer, Disposition)]
    assert echo.state == modified
    (payload,) = [payload for answer, payload in answers if isinstance(answer, Transfer)]
    message = Message.parse(payload)
    assert message.application_properties == {"kept": 0.5, "changed": 2, "added": "new"}
    types = {name: type(value) for name, value in message.application_properties.items()}
    assert types == {"kept": Float, "changed": Int, "added": str}
    assert message.header.delivery_count == 1


async def test_a_dead_letter_may_come_without_reason_and_with_properties(client: RawClient) -> None:
    await send(client, 1, "/orders", numbered("a"), numbered("b"))
    await client.attach_session(2, "s", credit=1)
    first, _ = await take(client)
    client.send(2, disposition(first, Rejected()))
    assert await client.read() == Disposition(False, 0, None, True, Rejected())
    client.send(2, Flow(1, 5000, 1, 5000, 0, 1, 1))
    second, _ = await take(client)
    info: dict[Value, Value] = {
        Symbol("DeadLetterReason"): "why",
        Symbol("DeadLetterErrorDescription"): "because",
        Symbol("own"): True,
    }
    client.send(2, disposition(second, Rejected(Error("com.microsoft:dead-letter", None, info))))
    assert await client.read() == Disposition(False, 1, None, True, Rejected())
    await client.begin(3)
    dead = Source("orders/$DeadLetterQueue")
    await client.attach(3, Attach("dead", 0, True, 0, 1, dead, Target("me")))
    client.send(3, Flow(0, 5000, 1, 5000, 0, 0, 2))
    received = [(await take(client))[1] for _ in range(2)]
    assert [dict(each.application_properties) for each in received] == [
        {},
        {"own": True, "DeadLetterReason": "why", "DeadLetterErrorDescription": "because"},
    ]
    assert all(each.message_annotations["x-opt-deadletter-source"] == "orders" for each in received)


async def test_deferring_is_refused_and_the_lock_stays(client: RawClient) -> None:
    await send(client, 1, "/orders", numbered("a"))
    await client.attach_session(2, "s", credit=1)
    transfer, _ = await take(client)
    client.send(2, disposition(transfer, Modified(None, True)))
    assert condition_of(await client.read()) == "amqp:not-implemented"
    # That delivery is settled for the link; its lock goes back with the session.
    client.send(2, Detach(0, closed=True))
    await client.read()
    await client.attach_session(3, "s", credit=1)
    _, again = await take(client)
    assert again.header.delivery_count == 0


async def test_a_message_without_properties_gets_an_id(client: RawClient) -> None:
    bare = b"\x00\x53\x75" + encode(b"body")
    assert await send(client, 1, "/plain", bare) == Accepted()
    await client.begin(2)
    await client.attach(2, Attach("r", 0, True, 0, 1, Source("/plain"), Target("me")))
    client.send(2, Flow(0, 5000, 1, 5000, 0, 0, 1))
    _, message = await take(client)
    assert isinstance(message.properties.message_id, str)
    assert UUID(message.properties.message_id).hex == message.properties.message_id


async def test_a_batch_is_taken_whole_or_not_at_all(client: RawClient) -> None:
    def batch(*messages: bytes) -> bytes:
        sections = b"".join(b"\x00\x53\x75" + encode(each) for each in messages)
        return Sections(properties=encode(["envelope"]), body=sections).encode()

    for bad in (b"no message", numbered("no session", None)):
        outcome = await send_once(client, batch(numbered("a"), bad))
        assert isinstance(outcome, Rejected)
    assert await send_once(client, batch(numbered("b"), numbered("c"))) == Accepted()
    await client.attach_session(2, "s", credit=10)
    received = [(await take(client))[1].properties.message_id for _ in range(2)]
    assert received == ["b", "c"]
    assert await client.is_silent()


async def send_once(client: RawClient, payload: bytes) -> object:
    """Send a batch in an AMQP session that ends with it."""
    outcome = await send(client, 1, "/orders", payload, message_format=BATCH)
    client.send(1, End())
    assert await client.read() == End()
    return outcome


async def test_a_plain_lock_outlives_the_connection(stepped: SteppedBroker, client: RawClient) -> None:
    await send(client, 1, "/plain", numbered("a", None))
    await client.begin(2)
    await client.attach(2, Attach("r", 0, True, 0, 1, Source("/plain"), Target("me")))
    client.send(2, Flow(0, 5000, 1, 5000, 0, 0, 1))
    transfer, _ = await take(client)
    assert transfer.delivery_tag is not None
    token = UUID(bytes_le=transfer.delivery_tag)
    client.close()
    second = await RawClient.open(stepped.target)
    await second.attach_requests(1, "plain/$management")
    for status in (200, 410):
        answer = await second.request(
            1,
            "plain/$management",
            {"operation": "com.microsoft:update-disposition"},
            {"disposition-status": "completed", "lock-tokens": uuid_array((token,))},
        )
        assert answer.application_properties["statusCode"] == status
    second.close()


async def test_what_is_not_here_is_refused_by_name(client: RawClient) -> None:
    await client.begin(1)
    coordinator = Described(ULong(0x30), [None])
    client.send(1, Attach("tx", 0, False, source=Source("guid"), target=coordinator))
    assert isinstance(await client.read(), Attach)
    detach = await client.read()
    assert isinstance(detach, Detach)
    assert detach.error is not None
    assert detach.error.condition == "amqp:not-implemented"
    await client.attach_requests(2, "orders/$management")
    answer = await client.request(
        2, "orders/$management", {"operation": "com.microsoft:schedule-message"}, {"messages": []}
    )
    assert answer.application_properties["statusCode"] == 501
    assert answer.application_properties["errorCondition"] == "amqp:not-implemented"


async def test_a_bad_request_is_answered_with_the_field(client: RawClient) -> None:
    await client.attach_requests(1, "plain/$management")
    requests: list[tuple[str, Value, str]] = [
        ("renew-lock", {"lock-tokens": "none"}, "lock-tokens"),
        ("peek-message", {"message-count": 1}, "from-sequence-number"),
        ("update-disposition", {"lock-tokens": uuid_array(())}, "disposition-status"),
    ]
    for operation, body, field in requests:
        answer = await client.request(1, "plain/$management", {"operation": f"com.microsoft:{operation}"}, body)
        assert answer.application_properties["statusCode"] == 400
        assert field in str(answer.application_properties["statusDescription"])
