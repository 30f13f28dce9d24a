"""The sending end of a link: credit, and deliveries until their settlement.

Source: OASIS AMQP 1.0 part 2, sections 2.6.7 (flow control) and 2.6.12 (transferring a message).
"""

from typing import TYPE_CHECKING, Final

from devstack.servicebus.amqp.events import CreditChanged
from devstack.servicebus.amqp.link import SERIAL_MASK, Link, LinkState
from devstack.servicebus.amqp.performatives import Attach, DeliveryState, Disposition, Flow

if TYPE_CHECKING:
    from devstack.servicebus.amqp.session import Session

_SERIAL_HALF: Final = 0x80000000


class SendingLink(Link):
    """We send on it, as far as the peer's credit goes.

    Attributes:
        credit: how many deliveries the peer still takes.
        drain: the peer wants the credit used up, or given up by `drained`.
    """

    receives = False

    def __init__(self, session: "Session", handle: int, name: str, remote: Attach | None) -> None:
        super().__init__(session, handle, name, remote)
        self.credit = 0
        self.drain = False
        self._delivery_count = 0

    def send(self, payload: bytes, tag: bytes, *, settled: bool = False, message_format: int = 0) -> None:
        """Send one delivery. Its outcome comes as `DeliveryUpdated` with the same tag.

        Raises:
            RuntimeError: there is no credit, or no link; the caller is at fault.
        """
        if self.state is not LinkState.ATTACHED or self.credit < 1:
            raise RuntimeError(f"link {self.name}: no credit, or not attached")
        self.credit -= 1
        self._delivery_count = (self._delivery_count + 1) & SERIAL_MASK
        self.session.transmit(self, payload, tag, settled=settled, message_format=message_format)

    def settle(self, delivery_id: int, state: DeliveryState | None) -> None:
        """Settle a delivery with the outcome that was applied, for the receiver to see."""
        self.session.forget_outgoing(delivery_id)
        self.session.send(Disposition(role=False, first=delivery_id, settled=True, state=state))

    def drained(self) -> None:
        """Give the remaining credit up, as the answer to a drain, after what was sent before it."""
        self._delivery_count = (self._delivery_count + self.credit) & SERIAL_MASK
        self.credit = 0
        self.session.report_flow(self)

    def on_flow(self, flow: Flow) -> None:
        """Take the receiver's credit."""
        if flow.link_credit is not None:
            limit = (flow.delivery_count or 0) + flow.link_credit
            credit = (limit - self._delivery_count) & SERIAL_MASK
            # A receiver that lowered its credit below what is under way reads as a huge serial number.
            self.credit = credit if credit < _SERIAL_HALF else 0
            self.drain = bool(flow.drain)
        if flow.echo:
            self.session.report_flow(self)
        self.session.report(CreditChanged(self))

    def flow_fields(self) -> tuple[int, int, bool]:
        """Return delivery-count, credit and drain for a flow frame."""
        return self._delivery_count, self.credit, self.drain
