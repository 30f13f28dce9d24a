"""Settlement in the shape of the .NET client, the one inside the Functions host, by hand.

Source: Azure.Messaging.ServiceBus 7.21.0 on Microsoft.Azure.Amqp 2.7.3, as measured.
"""

from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Detach,
    Disposition,
    Error,
    Flow,
    Modified,
    Rejected,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.types import Float, Int, Symbol, Value
from devstack.tests.servicebus.raw_client import RawClient, condition_of, disposition, encoded, numbered, send_all, take


async def test_a_disposition_of_nothing_known_is_answered(dotnet: RawClient) -> None:
    await dotnet.attach_session(1, "s")
    dotnet.send(1, Disposition(True, 41, 43, False, Accepted()))
    answer = await dotnet.read()
    assert condition_of(answer) == "amqp:not-found"
    assert isinstance(answer, Disposition)
    assert (answer.first, answer.last) == (41, 43)


async def test_abandon_with_properties_to_modify_merges_them(dotnet: RawClient) -> None:
    original = encoded("x", ["m", *[None] * 9, "s"], {"kept": Float(0.5), "changed": 1})
    await send_all(dotnet, 1, "/orders", original)
    await dotnet.attach_session(2, "s", credit=2)
    transfer, _ = await take(dotnet)
    modified = Modified(None, None, {Symbol("changed"): Int(2), Symbol("added"): "new"})
    dotnet.send(2, disposition(transfer, modified))
    # Credit is still there, so the message comes again before or after the echo.
    answers = [await dotnet.read_with_payload(), await dotnet.read_with_payload()]
    (echo,) = [answer for answer, _ in answers if isinstance(answer, Disposition)]
    assert echo.state == modified
    (payload,) = [payload for answer, payload in answers if isinstance(answer, Transfer)]
    message = Message.parse(payload)
    assert message.application_properties == {"kept": 0.5, "changed": 2, "added": "new"}
    types = {name: type(value) for name, value in message.application_properties.items()}
    assert types == {"kept": Float, "changed": Int, "added": str}
    assert message.header.delivery_count == 1


async def test_a_dead_letter_may_come_without_reason_and_with_properties(dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"), numbered("b"))
    await dotnet.attach_session(2, "s", credit=1)
    first, _ = await take(dotnet)
    dotnet.send(2, disposition(first, Rejected()))
    assert await dotnet.read() == Disposition(False, 0, None, True, Rejected())
    dotnet.send(2, Flow(1, 5000, 1, 5000, 0, 1, 1))
    second, _ = await take(dotnet)
    info: dict[Value, Value] = {
        Symbol("DeadLetterReason"): "why",
        Symbol("DeadLetterErrorDescription"): "because",
        Symbol("own"): True,
    }
    dotnet.send(2, disposition(second, Rejected(Error("com.microsoft:dead-letter", None, info))))
    assert await dotnet.read() == Disposition(False, 1, None, True, Rejected())
    await dotnet.begin(3)
    dead = Source("orders/$DeadLetterQueue")
    await dotnet.attach(3, Attach("dead", 0, True, 0, 1, dead, Target("me")))
    dotnet.send(3, Flow(0, 5000, 1, 5000, 0, 0, 2))
    received = [(await take(dotnet))[1] for _ in range(2)]
    assert [dict(each.application_properties) for each in received] == [
        {},
        {"own": True, "DeadLetterReason": "why", "DeadLetterErrorDescription": "because"},
    ]
    assert all(each.message_annotations["x-opt-deadletter-source"] == "orders" for each in received)


async def test_deferring_is_refused_and_the_lock_stays(dotnet: RawClient) -> None:
    await send_all(dotnet, 1, "/orders", numbered("a"))
    await dotnet.attach_session(2, "s", credit=1)
    transfer, _ = await take(dotnet)
    dotnet.send(2, disposition(transfer, Modified(None, True)))
    assert condition_of(await dotnet.read()) == "amqp:not-implemented"
    # That delivery is settled for the link; its lock goes back with the session.
    dotnet.send(2, Detach(0, closed=True))
    await dotnet.read()
    await dotnet.attach_session(3, "s", credit=1)
    _, again = await take(dotnet)
    assert again.header.delivery_count == 0
