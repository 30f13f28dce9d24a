"""Outgoing transfers of one session: delivery ids, the peer's window, and the cutting into frames.

Source: OASIS AMQP 1.0 part 2, sections 2.5.6 (session flow control) and 2.6.14 (multi-frame transfers).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from devstack.servicebus.amqp.link import SERIAL_MASK
from devstack.servicebus.amqp.performatives import Flow, Transfer
from devstack.servicebus.amqp.sending_link import SendingLink

# More than a frame's head and a transfer take, with a tag of the 32 octets that the standard allows.
_OVERHEAD_MAX: Final = 128


@dataclass(slots=True)
class _Waiting:
    """A delivery that waits for the peer's window, in whole or from `offset` on."""

    link: SendingLink
    transfer: Transfer
    payload: bytes
    offset: int = 0


class Transmission:
    """Sends deliveries in order, as far as the peer's session window goes.

    Attributes:
        next_outgoing_id: transfer number of the next frame.
        unsettled: by delivery id, the link and the tag of each delivery without settlement.
    """

    def __init__(self, write: Callable[[Transfer, bytes], None], write_flow: Callable[[SendingLink], None]) -> None:
        self.next_outgoing_id = 0
        self.unsettled: dict[int, tuple[SendingLink, bytes]] = {}
        self._write = write
        self._write_flow = write_flow
        self._window = 0
        self._next_delivery_id = 0
        self._queue: deque[_Waiting | SendingLink] = deque()

    def open_window(self, frames: int) -> None:
        """Take the window of the peer's begin."""
        self._window = frames

    def on_flow(self, flow: Flow, max_frame_size: int) -> None:
        """Take the peer's window; frames that were under way when it was measured count against it."""
        under_way = (self.next_outgoing_id - (flow.next_incoming_id or 0)) & SERIAL_MASK
        self._window = max(0, flow.incoming_window - under_way)
        self.flush(max_frame_size)

    def add(self, link: SendingLink, transfer: Transfer, payload: bytes) -> None:
        """Put a delivery at the end of the queue."""
        self._queue.append(_Waiting(link, transfer, payload))

    def add_flow(self, link: SendingLink) -> None:
        """Put a report of the link's state at the end of the queue."""
        self._queue.append(link)

    def forget(self, link: SendingLink) -> None:
        """Drop what belongs to a link that is gone."""
        self._queue = deque(
            entry for entry in self._queue if (entry.link if isinstance(entry, _Waiting) else entry) is not link
        )
        for delivery_id in [key for key, (owner, _) in self.unsettled.items() if owner is link]:
            del self.unsettled[delivery_id]

    def flush(self, max_frame_size: int) -> None:
        """Send as much of the queue as the window allows."""
        while self._queue:
            entry = self._queue[0]
            if isinstance(entry, _Waiting):
                if not self._send_all(entry, max_frame_size):
                    return
            else:
                self._write_flow(entry)
            self._queue.popleft()

    def _send_all(self, waiting: _Waiting, max_frame_size: int) -> bool:
        """Send a delivery's frames; False when the window closed before the last one."""
        transfer, payload = waiting.transfer, waiting.payload
        while self._window > 0:
            if transfer.delivery_id is None:
                self._number(waiting)
            end = waiting.offset + max_frame_size - _OVERHEAD_MAX
            transfer.more = end < len(payload)
            self._window -= 1
            self.next_outgoing_id = (self.next_outgoing_id + 1) & SERIAL_MASK
            self._write(transfer, payload[waiting.offset : end])
            waiting.offset = end
            if not transfer.more:
                return True
        return False

    def _number(self, waiting: _Waiting) -> None:
        """Give the delivery its id only now: ids rise in the order of the first frames on the wire."""
        transfer = waiting.transfer
        transfer.delivery_id = self._next_delivery_id
        self._next_delivery_id = (self._next_delivery_id + 1) & SERIAL_MASK
        if not transfer.settled and transfer.delivery_tag is not None:
            self.unsettled[transfer.delivery_id] = (waiting.link, transfer.delivery_tag)
