"""Sessions: the links on one channel, their handles, and the dispositions of their deliveries.

Source: OASIS AMQP 1.0 part 2, sections 2.5 (sessions) and 2.6.2 (handles).
"""

from collections.abc import Callable, Collection
from typing import Final

from devstack.servicebus.amqp.conditions import (
    HANDLE_IN_USE,
    ILLEGAL_STATE,
    NOT_ALLOWED,
    UNATTACHED_HANDLE,
    ProtocolError,
)
from devstack.servicebus.amqp.events import (
    DeliveryConfirmed,
    DeliveryUpdated,
    Event,
    LinkDetached,
    LinkProposed,
    SessionEnded,
    UnknownDeliveryUpdated,
)
from devstack.servicebus.amqp.link import SERIAL_MASK, Link, LinkState
from devstack.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Detach,
    Disposition,
    End,
    Error,
    Fields,
    Flow,
    Performative,
    Rejected,
    Source,
    Target,
    Transfer,
)
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.sending_link import SendingLink
from devstack.servicebus.amqp.transmission import Transmission

_INCOMING_WINDOW: Final = 2048
_OUTGOING_WINDOW: Final = 2048
_HANDLE_MAX: Final = 1023

type AnyLink = SendingLink | ReceivingLink


class Session:
    """One session on one channel, begun by the peer or by us.

    `write` puts a frame on a channel and `report` takes events; both are the connection's.
    """

    def __init__(
        self,
        channel: int,
        *,
        write: Callable[[int, Performative, bytes], None],
        report: Callable[[Event], None],
        max_frame_size: Callable[[], int],
    ) -> None:
        self.channel = channel
        self.is_ended = False
        self.report = report
        self._write = write
        self._max_frame_size = max_frame_size
        self._next_incoming_id: int | None = None
        self._incoming_window = _INCOMING_WINDOW
        self._transmission = Transmission(
            write=lambda transfer, payload: write(channel, transfer, payload), write_flow=self.send_flow
        )
        self._links: dict[int, AnyLink] = {}
        self._links_by_remote_handle: dict[int, AnyLink] = {}
        self._incoming_unsettled: dict[int, ReceivingLink] = {}

    def begin(self, remote_channel: int | None = None) -> None:
        """Begin the session, or with the peer's channel, answer its begin."""
        self.send(Begin(remote_channel, 0, _INCOMING_WINDOW, _OUTGOING_WINDOW, _HANDLE_MAX))

    def attach_sender(self, name: str, target: Target, *, source: Source | None = None) -> SendingLink:
        """Ask the peer for a link on which we send."""
        link = SendingLink(self, self._free_handle(), name, None)
        self._request(link, source or Source(), target, None)
        return link

    def attach_receiver(
        self, name: str, source: Source, *, target: Target | None = None, properties: Fields | None = None
    ) -> ReceivingLink:
        """Ask the peer for a link on which we receive."""
        link = ReceivingLink(self, self._free_handle(), name, None)
        self._request(link, source, target or Target(), properties)
        return link

    def end(self, error: Error | None = None) -> None:
        """End the session and all its links."""
        self.send(End(error))
        self.is_ended = True

    def settle_unknown(self, event: UnknownDeliveryUpdated, error: Error) -> None:
        """Settle deliveries that this session does not know as rejected, so that the peer stops waiting."""
        self.send(Disposition(False, event.first, event.last, settled=True, state=Rejected(error)))

    def send(self, performative: Performative) -> None:
        """Write a performative on this session's channel; after our end nothing may follow."""
        if not self.is_ended:
            self._write(self.channel, performative, b"")

    def transmit(self, link: SendingLink, payload: bytes, tag: bytes, *, settled: bool, message_format: int) -> None:
        """Send a delivery as soon as the peer's window allows."""
        transfer = Transfer(link.handle, delivery_tag=tag, message_format=message_format, settled=settled, more=False)
        self._transmission.add(link, transfer, payload)
        self._transmission.flush(self._max_frame_size())

    def report_flow(self, link: SendingLink) -> None:
        """Send the link's state, after the deliveries that wait before it."""
        self._transmission.add_flow(link)
        self._transmission.flush(self._max_frame_size())

    def send_flow(self, link: AnyLink | None = None) -> None:
        """Send the session's window, and the state of a link."""
        next_outgoing_id = self._transmission.next_outgoing_id
        flow = Flow(self._next_incoming_id, self._incoming_window, next_outgoing_id, _OUTGOING_WINDOW)
        if link is not None:
            flow.handle = link.handle
            flow.delivery_count, flow.link_credit, flow.drain = link.flow_fields()
        self.send(flow)

    def remember_incoming(self, delivery_id: int, link: ReceivingLink) -> None:
        """Keep an unsettled delivery of the peer's until it is settled."""
        self._incoming_unsettled[delivery_id] = link

    def forget_incoming(self, delivery_id: int) -> None:
        """Forget a delivery of the peer's, which is settled."""
        self._incoming_unsettled.pop(delivery_id, None)

    def forget_outgoing(self, delivery_id: int) -> None:
        """Forget a delivery of ours, which is settled."""
        self._transmission.unsettled.pop(delivery_id, None)

    def forget_link(self, link: Link) -> None:
        """Drop the deliveries of a link that is going."""
        if isinstance(link, SendingLink):
            self._transmission.forget(link)
        else:
            for delivery_id in [key for key, owner in self._incoming_unsettled.items() if owner is link]:
                del self._incoming_unsettled[delivery_id]

    def on_performative(self, performative: Performative, payload: bytes) -> None:
        """Take a frame of this session's channel."""
        match performative:
            case Transfer():
                self._on_transfer(performative, payload)
            case Disposition():
                self._on_disposition(performative)
            case Flow():
                self._on_flow(performative)
            case Attach():
                self._on_attach(performative)
            case Detach():
                self._on_detach(performative)
            case End():
                self.on_end(performative.error)
            case _:
                raise ProtocolError(NOT_ALLOWED, "this performative has no place inside a session")

    def on_begin(self, begin: Begin) -> None:
        """Take the peer's begin, which opens its window."""
        self._next_incoming_id = begin.next_outgoing_id
        self._transmission.open_window(begin.incoming_window)

    def on_end(self, error: Error | None) -> None:
        """Take the peer's end, and answer it unless it is itself an answer."""
        self.detach_all(error)
        self.end()
        self.report(SessionEnded(self, error))

    def detach_all(self, error: Error | None) -> None:
        """Report every link as gone, because what carries it is."""
        for link in self._links.values():
            if link.state is not LinkState.DETACHED:
                link.state = LinkState.DETACHED
                self.report(LinkDetached(link, error))
        self._links.clear()
        self._links_by_remote_handle.clear()

    def _request(self, link: AnyLink, source: Source, target: Target, properties: Fields | None) -> None:
        self._links[link.handle] = link
        self.send(
            Attach(
                name=link.name,
                handle=link.handle,
                role=link.receives,
                snd_settle_mode=0,
                rcv_settle_mode=0,
                source=source,
                target=target,
                initial_delivery_count=None if link.receives else 0,
                properties=properties,
            )
        )

    def _free_handle(self) -> int:
        return next(handle for handle in range(_HANDLE_MAX + 1) if handle not in self._links)

    def _on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        if self._next_incoming_id is None:
            raise ProtocolError(ILLEGAL_STATE, "a transfer came before the begin")
        self._next_incoming_id = (self._next_incoming_id + 1) & SERIAL_MASK
        self._incoming_window -= 1
        link = self._links_by_remote_handle.get(transfer.handle)
        if not isinstance(link, ReceivingLink):
            raise ProtocolError(UNATTACHED_HANDLE, f"transfer: no link with handle {transfer.handle}")
        link.on_transfer(transfer, payload)
        if self._incoming_window <= _INCOMING_WINDOW // 2:
            self._incoming_window = _INCOMING_WINDOW
            self.send_flow()

    def _on_flow(self, flow: Flow) -> None:
        self._transmission.on_flow(flow, self._max_frame_size())
        if flow.handle is None:
            if flow.echo:
                self.send_flow()
            return
        link = self._links_by_remote_handle.get(flow.handle)
        if link is None:
            raise ProtocolError(UNATTACHED_HANDLE, f"flow: no link with handle {flow.handle}")
        link.on_flow(flow)

    def _on_attach(self, attach: Attach) -> None:
        if attach.handle > _HANDLE_MAX or attach.handle in self._links_by_remote_handle:
            raise ProtocolError(HANDLE_IN_USE, f"attach: handle {attach.handle} is in use or too high")
        for requested in self._links.values():
            if requested.remote is None and requested.is_answered_by(attach):
                self._links_by_remote_handle[attach.handle] = requested
                requested.on_answer(attach)
                return
        # The peer's own number where it is free, as it is unless we ask for links in the same session.
        handle = attach.handle if attach.handle not in self._links else self._free_handle()
        make = SendingLink if attach.role else ReceivingLink
        proposed = make(self, handle, attach.name, attach)
        self._links[handle] = self._links_by_remote_handle[attach.handle] = proposed
        self.report(LinkProposed(proposed))

    def _on_detach(self, detach: Detach) -> None:
        link = self._links_by_remote_handle.pop(detach.handle, None)
        if link is None:
            # azure-servicebus answers the answer to its own detach.
            return
        self._links.pop(link.handle, None)
        self.forget_link(link)
        link.on_detach(detach)

    def _on_disposition(self, disposition: Disposition) -> None:
        if not disposition.role:
            for delivery_id in _concerned(disposition, self._incoming_unsettled):
                link = self._incoming_unsettled.pop(delivery_id)
                self.report(DeliveryConfirmed(link, delivery_id, disposition.state))
            return
        unsettled = self._transmission.unsettled
        concerned = _concerned(disposition, unsettled)
        settled = bool(disposition.settled)
        for delivery_id in concerned:
            sender, tag = unsettled.pop(delivery_id) if settled else unsettled[delivery_id]
            self.report(DeliveryUpdated(sender, delivery_id, tag, disposition.state, settled))
        if not concerned and not settled:
            last = disposition.first if disposition.last is None else disposition.last
            self.report(UnknownDeliveryUpdated(self, disposition.first, last))


def _concerned(disposition: Disposition, known: Collection[int]) -> list[int]:
    """Return the known ones of the deliveries that a disposition names, in order of their ids."""
    if disposition.last is None or disposition.last == disposition.first:
        return [disposition.first] if disposition.first in known else []
    span = (disposition.last - disposition.first) & SERIAL_MASK
    return sorted(
        (each for each in known if (each - disposition.first) & SERIAL_MASK <= span),
        key=lambda each: (each - disposition.first) & SERIAL_MASK,
    )
