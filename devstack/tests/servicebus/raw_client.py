"""A client that sends frames exactly as told, for what no SDK at hand would send."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Self

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.composites import decode_composite
from devstack.servicebus.amqp.frames import AMQP_HEADER, SASL_HEADER, FrameReader, amqp_frame, sasl_frame
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Begin,
    Composite,
    Disposition,
    Flow,
    Modified,
    Open,
    Performative,
    Rejected,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import Symbol, UInt, Value
from devstack.servicebus.connection_string import ConnectionString
from devstack.servicebus.sas import sign

SESSION_FILTER = Symbol("com.microsoft:session-filter")


def encoded(
    body: Value, properties: list[Value] | None = None, application: Mapping[Value, Value] | None = None
) -> bytes:
    """Return a message whose body is one amqp-value."""
    return Sections(
        properties=encode.encode(properties) if properties is not None else b"",
        application_properties=encode.encode(dict(application)) if application is not None else b"",
        body=b"\x00\x53\x77" + encode.encode(body),
    ).encode()


class RawClient:
    """One connection, negotiated as the .NET client does it: MSSBCBS, and one AMQP session per link."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = FrameReader(1024 * 1024)
        self._requests = 0

    @classmethod
    async def open(cls, target: ConnectionString, *, idle_time_out: int = 30_000) -> Self:
        client = cls(*await asyncio.open_connection(target.host, target.port))
        client._writer.write(SASL_HEADER)
        assert await client._reader.readexactly(8) == SASL_HEADER
        mechanisms = await client.read()
        assert isinstance(mechanisms, SaslMechanisms)
        assert "MSSBCBS" in getattr(mechanisms.sasl_server_mechanisms, "items", ())
        client._writer.write(sasl_frame(SaslInit("MSSBCBS")))
        assert await client.read() == SaslOutcome(0)
        client._writer.write(AMQP_HEADER)
        assert await client._reader.readexactly(8) == AMQP_HEADER
        client.send(0, Open("dotnet", "host", 65536, 8191, idle_time_out))
        assert isinstance(await client.read(), Open)
        await client._authorize(target)
        return client

    def close(self) -> None:
        """Cut the connection."""
        self._writer.transport.abort()

    def send(self, channel: int, performative: Performative, payload: bytes = b"") -> None:
        self.write(amqp_frame(channel, performative, payload))

    def write(self, octets: bytes) -> None:
        """Write octets in one piece."""
        self._writer.write(octets)

    async def read(self) -> Composite:
        """Return the next performative."""
        composite, _ = await self.read_with_payload()
        return composite

    async def read_with_payload(self) -> tuple[Composite, bytes]:
        body = b""
        while not body:
            body = await self.read_frame()
        composite, end = decode_composite(body)
        return composite, body[end:]

    async def read_frame(self) -> bytes:
        """Return the next frame's body, which is empty for a heartbeat."""
        while (frame := self._frames.take_frame()) is None:
            async with asyncio.timeout(10):
                data = await self._reader.read(65536)
            assert data, "the broker closed the connection"
            self._frames.feed(data)
        return frame.body

    async def is_silent(self) -> bool:
        """Whether nothing comes in answer to what was sent: a flow that asks for an echo comes first."""
        self.send(0, Flow(0, 1000, 0, 1000, echo=True))
        answer = await self.read()
        return isinstance(answer, Flow) and answer.handle is None

    async def begin(self, channel: int) -> None:
        self.send(channel, Begin(None, 1, 5000, 5000))
        assert isinstance(await self.read(), Begin)

    async def attach(self, channel: int, attach: Attach) -> Attach:
        self.send(channel, attach)
        answer = await self.read()
        assert isinstance(answer, Attach)
        if attach.role is False:
            assert isinstance(await self.read(), Flow)  # the credit to send
        return answer

    async def attach_session(self, channel: int, session_id: str | None, *, credit: int = 0) -> Attach:
        """Begin an AMQP session, accept a Service Bus session in it, and give credit."""
        await self.begin(channel)
        answer = await self.attach(channel, session_attach(f"session-{channel}", session_id))
        if credit:
            self.send(channel, Flow(0, 5000, 1, 5000, 0, 0, credit))
        return answer

    async def request(self, channel: int, node: str, application: Mapping[Value, Value], body: Value) -> Message:
        """Send a request over links that `attach_requests` made, and return the answer."""
        self._requests += 1
        name = f"request{self._requests}"
        properties: list[Value] = [name, None, None, None, f"{node}-answers"]
        transfer = Transfer(0, self._requests, name.encode(), 0, False, False)
        self.send(channel, transfer, encoded(body, properties, application))
        while True:
            composite, payload = await self.read_with_payload()
            if isinstance(composite, Transfer):
                answer = Message.parse(payload)
                assert answer.properties.correlation_id == name
                return answer

    async def attach_requests(self, channel: int, node: str) -> None:
        await self.begin(channel)
        sender = Attach(f"{node}-requests", 0, False, source=Source("me"), target=Target(node))
        await self.attach(channel, sender)
        receiver = Attach(f"{node}-answers", 1, True, source=Source(node), target=Target(f"{node}-answers"))
        await self.attach(channel, receiver)
        self.send(channel, Flow(0, 5000, 1, 5000, 1, 0, 50))

    async def _authorize(self, target: ConnectionString) -> None:
        """Put one token for the root, which covers everything."""
        await self.attach_requests(0, "$cbs")
        expires_at = datetime.now(UTC) + timedelta(hours=1)
        token = sign("amqps://localhost/", target.key_name, target.key, expires_at)
        answer = await self.request(
            0,
            "$cbs",
            {
                "operation": "put-token",
                "type": "servicebus.windows.net:sastoken",
                "name": "amqp://localhost/",
            },
            token,
        )
        assert answer.application_properties["status-code"] == 202


def session_attach(name: str, session_id: str | None, *, timeout_ms: int | None = None) -> Attach:
    """Return the attach of a session receiver, without session id for the next available one."""
    properties: dict[Value, Value] = {}
    if timeout_ms is not None:
        properties[Symbol("com.microsoft:timeout")] = UInt(timeout_ms)
    return Attach(
        name,
        0,
        True,
        snd_settle_mode=0,
        rcv_settle_mode=1,
        source=Source("/orders", filter={SESSION_FILTER: session_id}),
        target=Target(name),
        properties=properties or None,
    )


def numbered(text: str, session_id: str | None = "s") -> bytes:
    """A message with properties up to the session id."""
    return encoded(text, [text, *[None] * 9, session_id])


async def send_all(client: RawClient, channel: int, node: str, *payloads: bytes, message_format: int = 0) -> object:
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
