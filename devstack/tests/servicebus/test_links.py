"""Links and sessions: two engines back to back."""

import pytest

from devstack.servicebus.amqp.events import (
    Closed,
    CreditChanged,
    DeliveryConfirmed,
    DeliveryUpdated,
    LinkAttached,
    LinkDetached,
    LinkProposed,
    MessageArrived,
    SenderAdvanced,
    SessionEnded,
    UnknownDeliveryUpdated,
)
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Error,
    Modified,
    Rejected,
    Source,
    Target,
)
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.tests.servicebus.kit import Pair


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
    first = list(pair.client.receive(pair.server.take_output()))
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
