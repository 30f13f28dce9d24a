"""Whatever octets a peer sends, the engine answers with events, and keeps nothing that grows."""

from hypothesis import given, settings
from hypothesis import strategies as st

from devstack.servicebus.amqp.connection import Connection, Identity, Phase, Role
from devstack.servicebus.amqp.events import Closed, LinkProposed, MessageArrived
from devstack.servicebus.amqp.frames import AMQP_HEADER, SASL_HEADER, amqp_frame, sasl_frame
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Begin,
    Close,
    Detach,
    Disposition,
    End,
    Flow,
    Modified,
    Open,
    SaslInit,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.types import Symbol

FRAMES = [
    amqp_frame(0, Open("c", "h", 65536, 100, 30_000)),
    amqp_frame(1, Begin(None, 0, 100, 100)),
    amqp_frame(1, Attach("out", 0, True, 0, 0, Source("q", filter={Symbol("f"): None}), Target("t"))),
    amqp_frame(1, Attach("in", 1, False, 0, 0, Source("s"), Target("q"))),
    amqp_frame(1, Flow(0, 100, 0, 100, 0, 0, 10, drain=True, echo=True)),
    amqp_frame(1, Transfer(1, 0, b"tag", 0, False, True), b"first"),
    amqp_frame(1, Transfer(1, 0, b"tag", 0, False, False), b"last"),
    amqp_frame(1, Disposition(True, 0, 5, False, Accepted())),
    amqp_frame(1, Disposition(False, 0, None, True, Modified(True, False, {Symbol("a"): 1}))),
    amqp_frame(1, Detach(0, closed=True)),
    amqp_frame(1, End()),
    amqp_frame(0, Close()),
]
START = SASL_HEADER + sasl_frame(SaslInit("MSSBCBS")) + AMQP_HEADER


def serve(octets: bytes) -> list[object]:
    """Feed a server's engine that accepts every link, and return its events."""
    server = Connection(Role.SERVER, Identity("s"))
    events: list[object] = []
    for event in server.receive(octets):
        events.append(event)
        if isinstance(event, LinkProposed):
            event.link.accept(max_message_size=8)
            if isinstance(event.link, ReceivingLink):
                event.link.grant(10)
        server.take_output()
    assert (server.phase is Phase.CLOSED) == any(isinstance(event, Closed) for event in events)
    return events


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_frames_in_any_order_and_with_any_octet_changed(data: st.DataObject) -> None:
    frames = data.draw(st.lists(st.sampled_from(FRAMES), max_size=12))
    octets = bytearray(START + b"".join(FRAMES[:4] + frames))
    for _ in range(data.draw(st.integers(0, 3))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    serve(bytes(octets))


def test_the_whole_story_as_it_should_be() -> None:
    events = serve(START + b"".join(FRAMES))
    assert isinstance(events[-1], Closed)
    assert not events[-1].is_fault
    # Nine octets came for a link that takes eight: it was refused, and not reported.
    assert not any(isinstance(event, MessageArrived) for event in events)
