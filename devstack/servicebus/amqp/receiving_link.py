"""The receiving end of a link: granting credit, collecting deliveries, telling outcomes.

Source: OASIS AMQP 1.0 part 2, sections 2.6.7 (flow control) and 2.6.14 (multi-frame transfers).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devstack.servicebus.amqp.conditions import ILLEGAL_STATE, MESSAGE_SIZE_EXCEEDED, ProtocolError
from devstack.servicebus.amqp.events import MessageArrived, SenderAdvanced
from devstack.servicebus.amqp.link import SERIAL_MASK, Link, LinkState
from devstack.servicebus.amqp.performatives import Attach, DeliveryState, Disposition, Error, Flow, Rejected, Transfer

if TYPE_CHECKING:
    from devstack.servicebus.amqp.session import Session


@dataclass(slots=True)
class _Partial:
    """A delivery of which more frames are to come."""

    delivery_id: int
    delivery_tag: bytes
    message_format: int
    settled: bool
    chunks: list[bytes]
    size: int = 0


class ReceivingLink(Link):
    """The peer sends on it.

    Attributes:
        credit: how many more deliveries the peer may send.
        credit_window: when set, credit is raised to it again whenever half is used up.
    """

    receives = True

    def __init__(self, session: "Session", handle: int, name: str, remote: Attach | None) -> None:
        super().__init__(session, handle, name, remote)
        self.credit = 0
        self.credit_window = 0
        self._delivery_count = (remote.initial_delivery_count or 0) if remote else 0
        self._drain = False
        self._partial: _Partial | None = None

    def grant(self, credit: int, *, drain: bool = False) -> None:
        """Let the peer send `credit` deliveries from now on; with `drain`, only those it has at hand."""
        self.credit = credit
        self._drain = drain
        self.session.send_flow(self)

    def dispose(self, delivery_id: int, outcome: DeliveryState) -> None:
        """Tell an outcome and leave the settlement to the sender, who answers by `DeliveryConfirmed`."""
        self.session.send(Disposition(role=True, first=delivery_id, settled=False, state=outcome))

    def settle(self, delivery_id: int, outcome: DeliveryState) -> None:
        """Settle a delivery with an outcome."""
        self.session.forget_incoming(delivery_id)
        self.session.send(Disposition(role=True, first=delivery_id, settled=True, state=outcome))

    def on_flow(self, flow: Flow) -> None:
        """Take the sender's delivery-count: after a drain it has run ahead, and the credit is used up."""
        if flow.delivery_count is not None:
            advanced = (flow.delivery_count - self._delivery_count) & SERIAL_MASK
            self._delivery_count = flow.delivery_count
            self.credit = max(0, self.credit - advanced)
        if flow.echo:
            self.session.send_flow(self)
        self.session.report(SenderAdvanced(self))

    def on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        """Collect a delivery's frames, and report it when it is whole."""
        if self.state is not LinkState.ATTACHED:
            return
        partial = self._partial
        if partial is None:
            if transfer.delivery_id is None or transfer.delivery_tag is None:
                raise ProtocolError(ILLEGAL_STATE, "transfer: delivery-id and delivery-tag are required")
            partial = self._partial = _Partial(
                delivery_id=transfer.delivery_id,
                delivery_tag=transfer.delivery_tag,
                message_format=transfer.message_format or 0,
                settled=bool(transfer.settled),
                chunks=[],
            )
        partial.size += len(payload)
        if self._fits(partial):
            partial.chunks.append(payload)
        else:
            # Nothing of it is kept, however much more of it comes.
            partial.chunks.clear()
        if transfer.aborted:
            self._partial = None
        elif not transfer.more:
            self._partial = None
            self._finish(partial, settled=bool(transfer.settled) or partial.settled)

    def flow_fields(self) -> tuple[int, int, bool]:
        """Return delivery-count, credit and drain for a flow frame."""
        return self._delivery_count, self.credit, self._drain

    def _finish(self, partial: _Partial, *, settled: bool) -> None:
        self._delivery_count = (self._delivery_count + 1) & SERIAL_MASK
        # azure-servicebus sends beyond its credit, so an overrun is no fault.
        self.credit = max(0, self.credit - 1)
        if self.credit_window and self.credit <= self.credit_window // 2:
            self.grant(self.credit_window)
        if not settled:
            self.session.remember_incoming(partial.delivery_id, self)
        if not self._fits(partial):
            self._reject(partial, settled=settled)
            return
        self.session.report(
            MessageArrived(
                link=self,
                delivery_id=partial.delivery_id,
                delivery_tag=partial.delivery_tag,
                message_format=partial.message_format,
                settled=settled,
                payload=b"".join(partial.chunks),
            )
        )

    def _fits(self, partial: _Partial) -> bool:
        return not self.max_message_size or partial.size <= self.max_message_size

    def _reject(self, partial: _Partial, *, settled: bool) -> None:
        """Refuse a delivery for its size. The link lives on: on a detach azure-servicebus cannot tell the reason."""
        if not settled:
            description = f"The message has {partial.size} bytes, at most {self.max_message_size} are allowed."
            self.settle(partial.delivery_id, Rejected(Error(MESSAGE_SIZE_EXCEEDED, description)))
