"""Sends and requests in the shape of the .NET client, the one inside the Functions host, by hand.

Source: Azure.Messaging.ServiceBus 7.21.0 on Microsoft.Azure.Amqp 2.7.3, as measured.
"""

from uuid import UUID

from devstack.servicebus.amqp.encode import encode
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Detach,
    End,
    Flow,
    Rejected,
    Source,
    Target,
)
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import Array, Described, ULong, Value
from devstack.tests.servicebus.conftest import SteppedBroker
from devstack.tests.servicebus.raw_client import RawClient, numbered, send_all, take

BATCH = 0x80013700


async def test_a_message_without_properties_gets_an_id(dotnet: RawClient) -> None:
    bare = b"\x00\x53\x75" + encode(b"body")
    assert await send_all(dotnet, 1, "/plain", bare) == Accepted()
    await dotnet.begin(2)
    await dotnet.attach(2, Attach("r", 0, True, 0, 1, Source("/plain"), Target("me")))
    dotnet.send(2, Flow(0, 5000, 1, 5000, 0, 0, 1))
    _, message = await take(dotnet)
    assert isinstance(message.properties.message_id, str)
    assert UUID(message.properties.message_id).hex == message.properties.message_id


async def test_a_batch_is_taken_whole_or_not_at_all(dotnet: RawClient) -> None:
    def batch(*messages: bytes) -> bytes:
        sections = b"".join(b"\x00\x53\x75" + encode(each) for each in messages)
        return Sections(properties=encode(["envelope"]), body=sections).encode()

    for bad in (b"no message", numbered("no session", None)):
        outcome = await send_once(dotnet, batch(numbered("a"), bad))
        assert isinstance(outcome, Rejected)
    assert await send_once(dotnet, batch(numbered("b"), numbered("c"))) == Accepted()
    await dotnet.attach_session(2, "s", credit=10)
    received = [(await take(dotnet))[1].properties.message_id for _ in range(2)]
    assert received == ["b", "c"]
    assert await dotnet.is_silent()


async def send_once(dotnet: RawClient, payload: bytes) -> object:
    """Send a batch in an AMQP session that ends with it."""
    outcome = await send_all(dotnet, 1, "/orders", payload, message_format=BATCH)
    dotnet.send(1, End())
    assert await dotnet.read() == End()
    return outcome


async def test_a_plain_lock_outlives_the_connection(stepped: SteppedBroker, dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/plain", numbered("a", None))
    await dotnet.begin(2)
    await dotnet.attach(2, Attach("r", 0, True, 0, 1, Source("/plain"), Target("me")))
    dotnet.send(2, Flow(0, 5000, 1, 5000, 0, 0, 1))
    transfer, _ = await take(dotnet)
    assert transfer.delivery_tag is not None
    token = UUID(bytes_le=transfer.delivery_tag)
    dotnet.close()
    second = await RawClient.open(stepped.target)
    await second.attach_requests(1, "plain/$management")
    for status in (200, 410):
        answer = await second.request(
            1,
            "plain/$management",
            {"operation": "com.microsoft:update-disposition"},
            {"disposition-status": "completed", "lock-tokens": Array(0x98, (token,))},
        )
        assert answer.application_properties["statusCode"] == status
    second.close()


async def test_what_is_not_here_is_refused_by_name(dotnet: RawClient) -> None:
    await dotnet.begin(1)
    coordinator = Described(ULong(0x30), [None])
    dotnet.send(1, Attach("tx", 0, False, source=Source("guid"), target=coordinator))
    assert isinstance(await dotnet.read(), Attach)
    detach = await dotnet.read()
    assert isinstance(detach, Detach)
    assert detach.error is not None
    assert detach.error.condition == "amqp:not-implemented"
    await dotnet.attach_requests(2, "orders/$management")
    answer = await dotnet.request(
        2, "orders/$management", {"operation": "com.microsoft:schedule-message"}, {"messages": []}
    )
    assert answer.application_properties["statusCode"] == 501
    assert answer.application_properties["errorCondition"] == "amqp:not-implemented"


async def test_an_expired_token_opens_nothing(stepped: SteppedBroker, dotnet: RawClient) -> None:
    for seconds, condition in ((3500, None), (200, "amqp:unauthorized-access")):
        stepped.advance(seconds)
        await dotnet.begin(1)
        dotnet.send(1, Attach("r", 0, True, 0, 1, Source("/plain"), Target("me")))
        assert isinstance(await dotnet.read(), Attach)
        if condition is None:
            dotnet.send(1, End())
            assert await dotnet.read() == End()
            continue
        detach = await dotnet.read()
        assert isinstance(detach, Detach)
        assert detach.error is not None
        assert detach.error.condition == condition


async def test_tokens_of_other_kinds_are_refused(dotnet: RawClient) -> None:
    await dotnet.attach_requests(1, "$cbs")
    put: dict[Value, Value] = {"operation": "put-token", "type": "jwt", "name": "amqp://localhost/"}
    requests: list[tuple[dict[Value, Value], Value, int]] = [
        (put, "eyJhbGciOi.J9", 401),
        (put, b"octets", 400),
        (put | {"type": "other"}, "token", 400),
        (put | {"operation": "delete-token"}, "token", 501),
    ]
    for properties, body, status in requests:
        answer = await dotnet.request(1, "$cbs", properties, body)
        assert answer.application_properties["status-code"] == status


async def test_a_bad_request_is_answered_with_the_field(dotnet: RawClient) -> None:
    await dotnet.attach_requests(1, "plain/$management")
    requests: list[tuple[str, Value, str]] = [
        ("renew-lock", {"lock-tokens": "none"}, "lock-tokens"),
        ("peek-message", {"message-count": 1}, "from-sequence-number"),
        ("update-disposition", {"lock-tokens": Array(0x98, ())}, "disposition-status"),
    ]
    for operation, body, field in requests:
        answer = await dotnet.request(1, "plain/$management", {"operation": f"com.microsoft:{operation}"}, body)
        assert answer.application_properties["statusCode"] == 400
        assert field in str(answer.application_properties["statusDescription"])
