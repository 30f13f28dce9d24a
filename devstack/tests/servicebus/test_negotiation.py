"""The begin and the forced end of a connection, with frames by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.servicebus.amqp.composites import encode_composite
from devstack.servicebus.amqp.connection import Connection, Identity, Phase, Role
from devstack.servicebus.amqp.events import (
    Closed,
    Event,
    Opened,
)
from devstack.servicebus.amqp.frames import AMQP_HEADER, EMPTY_FRAME, SASL_HEADER, amqp_frame, sasl_frame
from devstack.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Close,
    Flow,
    Open,
    SaslInit,
    SaslOutcome,
    Transfer,
)


def open_by_hand() -> bytes:
    """The octets of a client up to its open, as part 2 section 2.3 lays frames out."""
    init = bytes.fromhex("00 53 41 c0 0c 03 a3 07") + b"MSSBCBS" + bytes.fromhex("40 40")
    opening = bytes.fromhex("00 53 10 c0 04 01 a1 01") + b"c"
    return b"".join(
        (
            bytes.fromhex("414d5150 03 01 00 00"),
            bytes.fromhex("00000019 02 01 0000") + init,
            bytes.fromhex("414d5150 00 01 00 00"),
            bytes.fromhex("00000011 02 00 0000") + opening,
        )
    )


def test_a_server_negotiates_with_a_client_that_sends_all_at_once() -> None:
    server = Connection(Role.SERVER, Identity("s"))
    events = list(server.receive(open_by_hand()))
    assert events == [Opened(Open("c"))]
    output = server.take_output()
    assert output.startswith(SASL_HEADER)
    assert b"MSSBCBS" in output
    assert b"ANONYMOUS" in output
    assert sasl_frame(SaslOutcome(0)) + AMQP_HEADER in output


def _framed_as_amqp(content: SaslInit) -> bytes:
    body = encode_composite(content)
    return (8 + len(body)).to_bytes(4) + bytes.fromhex("02 00 0000") + body


@given(st.data())
def test_octets_may_come_in_any_pieces(data: st.DataObject) -> None:
    server = Connection(Role.SERVER, Identity("s"))
    octets = open_by_hand() + EMPTY_FRAME + amqp_frame(0, Close())
    events: list[Event] = []
    while octets:
        size = data.draw(st.integers(1, len(octets)))
        events += server.receive(octets[:size])
        octets = octets[size:]
    assert [type(event) for event in events] == [Opened, Closed]


@pytest.mark.parametrize(
    ("octets", "condition"),
    [
        (b"GET / HTTP/1.1\r\n", "amqp:connection:framing-error"),
        (SASL_HEADER + sasl_frame(SaslInit("PLAIN")), "amqp:unauthorized-access"),
        (SASL_HEADER + sasl_frame(SaslOutcome(0)), "amqp:not-allowed"),
        (open_by_hand() + bytes.fromhex("00000007 02 00 0000"), "amqp:connection:framing-error"),
        (open_by_hand() + bytes.fromhex("7fffffff 02 00 0000"), "amqp:connection:framing-error"),
        (open_by_hand() + bytes.fromhex("00000008 02 07 0000"), "amqp:connection:framing-error"),
        (open_by_hand() + bytes.fromhex("0000000a 02 00 0000 99 99"), "amqp:decode-error"),
        (open_by_hand() + amqp_frame(1, Flow(0, 1, 0, 1)), "amqp:not-allowed"),
        (open_by_hand() + amqp_frame(0, Open("twice")), "amqp:illegal-state"),
        (open_by_hand() + sasl_frame(SaslInit("ANONYMOUS")), "amqp:illegal-state"),
        (open_by_hand() + _framed_as_amqp(SaslInit("ANONYMOUS")), "amqp:not-allowed"),
        (
            open_by_hand() + amqp_frame(0, Begin(None, 0, 1, 1)) + amqp_frame(0, Transfer(5, 0, b"t")),
            "amqp:session:unattached-handle",
        ),
        (
            open_by_hand() + amqp_frame(0, Begin(None, 0, 1, 1)) + amqp_frame(0, Begin(None, 0, 1, 1)),
            "amqp:not-allowed",
        ),
        (
            open_by_hand() + amqp_frame(0, Begin(None, 0, 1, 1)) + amqp_frame(0, Attach("l", 9999, True)),
            "amqp:session:handle-in-use",
        ),
    ],
)
def test_a_peer_that_breaks_the_protocol_is_told_and_cut_off(octets: bytes, condition: str) -> None:
    server = Connection(Role.SERVER, Identity("s"))
    closed = list(server.receive(octets))[-1]
    assert isinstance(closed, Closed)
    assert closed.is_fault
    assert closed.error is not None
    assert closed.error.condition == condition
    assert server.phase is Phase.CLOSED
    assert list(server.receive(EMPTY_FRAME)) == []


def test_heartbeats_follow_the_peers_idle_time_out() -> None:
    server = Connection(Role.SERVER, Identity("s"))
    server.heartbeat()
    assert server.take_output() == b""
    octets = SASL_HEADER + sasl_frame(SaslInit("ANONYMOUS")) + AMQP_HEADER
    list(server.receive(octets + amqp_frame(0, Open("c", idle_time_out=30_000))))
    server.take_output()
    assert server.heartbeat_seconds == 15
    server.heartbeat()
    assert server.take_output() == bytes.fromhex("00000008 02 00 0000")
