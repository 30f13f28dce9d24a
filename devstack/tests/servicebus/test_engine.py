"""The connection engine: frames by hand, and two engines back to back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.servicebus.amqp.composites import decode_composite, encode_composite
from devstack.servicebus.amqp.connection import Connection, Identity, Phase, Role
from devstack.servicebus.amqp.events import (
    Closed,
    CreditChanged,
    DeliveryConfirmed,
    DeliveryUpdated,
    LinkAttached,
    LinkDetached,
    LinkProposed,
    MessageArrived,
    Opened,
    SenderAdvanced,
    SessionEnded,
    UnknownDeliveryUpdated,
)
from devstack.servicebus.amqp.frames import AMQP_HEADER, EMPTY_FRAME, SASL_HEADER, amqp_frame, sasl_frame
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Begin,
    Close,
    Composite,
    Detach,
    Disposition,
    Error,
    Flow,
    Modified,
    Open,
    Rejected,
    SaslInit,
    SaslOutcome,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.amqp.types import DecodeError
from devstack.tests.servicebus.kit import Pair


@pytest.mark.parametrize(
    ("composite", "octets"),
    [
        (Detach(0, closed=True), "00 53 16 c0 04 03 43 41 40"),
        (Disposition(False, 0, settled=True, state=Accepted()), "00 53 15 c0 0a 06 42 43 40 41 00532445 40"),
        (Flow(None, 1, 2, 3), "00 53 13 c0 0f 0b 40 5201 5202 5203 40 40 40 40 40 40 40"),
        (
            Rejected(Error("amqp:not-found")),
            "00 53 25 c0 19 01 00 53 1d c0 13 03 a3 0e" + b"amqp:not-found".hex() + "40 40",
        ),
        (Modified(True, False), "00 53 27 c0 04 03 41 42 40"),
        (Close(), "00 53 18 c0 02 01 40"),
    ],
)
def test_every_field_is_written(composite: Composite, octets: str) -> None:
    assert encode_composite(composite) == bytes.fromhex(octets)
    assert decode_composite(bytes.fromhex(octets))[0] == composite


def test_a_list_that_ends_early_is_read() -> None:
    assert decode_composite(bytes.fromhex("00 53 16 c0 02 01 43"))[0] == Detach(0)


@pytest.mark.parametrize(
    ("octets", "field"),
    [
        ("00 53 16 45", "detach.handle"),
        ("00 53 16 c0 03 01 a1 00", "detach.handle"),
        ("00 53 16 c0 07 03 43 41 00 53 24 45", "detach.error"),
        ("00 53 18 c0 03 02 40 40", "close"),
    ],
)
def test_a_wrong_field_is_named(octets: str, field: str) -> None:
    with pytest.raises(DecodeError, match=field):
        decode_composite(bytes.fromhex(octets))


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
    events = server.receive(open_by_hand())
    assert events == [Opened(Open("c"))]
    output = server.take_output()
    assert output.startswith(SASL_HEADER)
    assert b"MSSBCBS" in output
    assert b"ANONYMOUS" in output
    assert sasl_frame(SaslOutcome(0)) + AMQP_HEADER in output


@given(st.data())
def test_octets_may_come_in_any_pieces(data: st.DataObject) -> None:
    server = Connection(Role.SERVER, Identity("s"))
    octets = open_by_hand() + EMPTY_FRAME + amqp_frame(0, Close())
    events = []
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
    closed = server.receive(octets)[-1]
    assert isinstance(closed, Closed)
    assert closed.is_fault
    assert closed.error is not None
    assert closed.error.condition == condition
    assert server.phase is Phase.CLOSED
    assert server.receive(EMPTY_FRAME) == []


def test_heartbeats_follow_the_peers_idle_time_out() -> None:
    server = Connection(Role.SERVER, Identity("s"))
    server.heartbeat()
    assert server.take_output() == b""
    server.receive(SASL_HEADER + sasl_frame(SaslInit("ANONYMOUS")) + AMQP_HEADER)
    server.receive(amqp_frame(0, Open("c", idle_time_out=30_000)))
    server.take_output()
    assert server.heartbeat_seconds == 15
    server.heartbeat()
    assert server.take_output() == bytes.fromhex("00000008 02 00 0000")


def linked(pair: Pair, credit: int = 0) -> tuple[ReceivingLink, SendingLink]:
    """The client's receiving link, and the server's sending end of it."""
    receiving = pair.client.begin_session().attach_receiver("l", Source("q"))
    _, at_server = pair.exchange()
    (proposed,) = at_server
    assert isinstance(proposed, LinkProposed)
    sending = proposed.link
    assert isinstance(sending, SendingLink)
    sending.accept(max_message_size=1000)
    at_client, _ = pair.exchange()
    assert at_client == [LinkAttached(receiving)]
    if credit:
        receiving.grant(credit)
        pair.exchange()
    return receiving, sending


def test_a_delivery_and_its_settlement() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=2)
    sending.send(b"payload", b"tag")
    assert pair.exchange() == ([MessageArrived(receiving, 0, b"tag", 0, False, b"payload")], [])
    assert (receiving.credit, sending.credit) == (1, 1)
    receiving.dispose(0, Modified(True))
    assert pair.exchange() == ([], [DeliveryUpdated(sending, 0, b"tag", Modified(True), False)])
    sending.settle(0, Modified(True))
    assert pair.exchange() == ([DeliveryConfirmed(receiving, 0, Modified(True))], [])
    receiving.dispose(0, Accepted())
    _, at_server = pair.exchange()
    assert at_server == [UnknownDeliveryUpdated(sending.session, 0, 0)]


def test_there_is_no_sending_without_credit() -> None:
    pair = Pair()
    _, sending = linked(pair)
    with pytest.raises(RuntimeError):
        sending.send(b"payload", b"tag")


def test_credit_is_absolute() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=3)
    sending.send(b"payload", b"1")
    # The receiver has not seen the delivery yet: its new credit of 2 counts from before it.
    receiving.grant(2)
    pair.exchange()
    assert sending.credit == 1


def test_a_drain_gives_the_rest_up_after_what_is_sent() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=5)
    receiving.grant(5, drain=True)
    _, at_server = pair.exchange()
    assert at_server == [CreditChanged(sending)]
    assert sending.drain
    sending.send(b"payload", b"1")
    sending.drained()
    at_client, _ = pair.exchange()
    assert [type(event) for event in at_client] == [MessageArrived, SenderAdvanced]
    assert (receiving.credit, sending.credit) == (0, 0)
    receiving.grant(1)
    pair.exchange()
    assert (sending.credit, sending.drain) == (1, False)


def test_a_large_delivery_is_cut_and_joined() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=1)
    payload = bytes(range(256)) * 12_000  # three frames of a mebibyte
    sending.send(payload, b"1")
    at_client, _ = pair.exchange()
    assert at_client == [MessageArrived(receiving, 0, b"1", 0, False, payload)]


def test_the_peers_session_window_is_kept() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=5000)
    for number in range(3000):
        sending.send(b"x", number.to_bytes(4))
    # 2048 frames fill the window; the receiver opens it again at half.
    first = pair.client.receive(pair.server.take_output())
    assert len(first) == 2048
    at_client, _ = pair.exchange()
    arrived = [event.delivery_id for event in [*first, *at_client] if isinstance(event, MessageArrived)]
    assert arrived == list(range(3000))
    assert receiving.credit == 2000


def test_credit_is_topped_up_at_half() -> None:
    pair = Pair()
    receiving, sending = linked(pair)
    receiving.credit_window = 10
    receiving.grant(10)
    pair.exchange()
    for number in range(25):
        sending.send(b"x", bytes([number]), settled=True)
        pair.exchange()
    assert 5 < sending.credit <= 10


def test_a_message_over_the_links_size_is_rejected_and_the_link_lives_on() -> None:
    pair = Pair()
    sending = pair.client.begin_session().attach_sender("l", Target("q"))
    _, (proposed,) = pair.exchange()
    assert isinstance(proposed, LinkProposed)
    receiving = proposed.link
    assert isinstance(receiving, ReceivingLink)
    receiving.accept(max_message_size=10)
    receiving.grant(4)
    pair.exchange()
    for payload in (b"0123456789", b"0123456789+", b"x" * 3_000_000, b"0"):
        sending.send(payload, payload[:4])
    at_client, at_server = pair.exchange()
    arrived = [event.payload for event in at_server if isinstance(event, MessageArrived)]
    assert arrived == [b"0123456789", b"0"]
    updates = [event for event in at_client if isinstance(event, DeliveryUpdated)]
    assert [event.delivery_id for event in updates] == [1, 2]
    for event in updates:
        assert isinstance(event.state, Rejected)
        assert event.state.error is not None
        assert event.state.error.condition == "amqp:link:message-size-exceeded"


def test_a_refused_link_is_detached_with_the_reason() -> None:
    pair = Pair()
    receiving = pair.client.begin_session().attach_receiver("l", Source("q"))
    _, (proposed,) = pair.exchange()
    assert isinstance(proposed, LinkProposed)
    proposed.link.refuse(Error("amqp:not-found", "no such queue"))
    at_client, _ = pair.exchange()
    assert at_client == [LinkDetached(receiving, Error("amqp:not-found", "no such queue"))]


def test_a_link_that_is_given_up_before_it_is_attached() -> None:
    pair = Pair()
    session = pair.client.begin_session()
    receiving = session.attach_receiver("l", Source("q"))
    pair.exchange()
    receiving.detach()
    session.end()
    at_client, at_server = pair.exchange()
    assert [type(event) for event in at_server] == [LinkDetached, SessionEnded]
    assert [type(event) for event in at_client] == [LinkDetached, SessionEnded]


def test_close_detaches_everything() -> None:
    pair = Pair()
    receiving, sending = linked(pair, credit=1)
    pair.server.close(Error("amqp:connection:forced", "bye"))
    at_client, at_server = pair.exchange()
    error = Error("amqp:connection:forced", "bye")
    assert at_client == [LinkDetached(receiving, error), Closed(error, is_fault=False)]
    assert at_server == [LinkDetached(sending, None), Closed(None, is_fault=False)]


def test_handles_and_channels_are_used_again() -> None:
    pair = Pair()
    for _ in range(3):
        receiving, sending = linked(pair)
        assert (receiving.session.channel, receiving.handle, sending.handle) == (0, 0, 0)
        receiving.session.end()
        pair.exchange()
