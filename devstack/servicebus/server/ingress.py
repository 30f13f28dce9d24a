"""A client's sender on a queue: takes messages and batches in."""

import logging

from devstack.servicebus.amqp.conditions import DECODE_ERROR
from devstack.servicebus.amqp.events import MessageArrived
from devstack.servicebus.amqp.performatives import Accepted, Error, Outcome, Rejected
from devstack.servicebus.amqp.receiving_link import ReceivingLink
from devstack.servicebus.amqp.types import DecodeError, UInt
from devstack.servicebus.broker.errors import BrokerError
from devstack.servicebus.broker.queue import Queue
from devstack.servicebus.faults import FaultBook, LostAcceptance, ServerBusy
from devstack.servicebus.server.conditions import SERVER_BUSY, to_amqp
from devstack.servicebus.server.payloads import received_messages, symbol_keys

_logger = logging.getLogger(__name__)
# azure-servicebus assumes 10,000 credits and ignores what it is given; other clients honour this.
_CREDIT = 1000


class QueueSender:
    """Enqueues what arrives; a batch as a whole or not at all."""

    def __init__(self, link: ReceivingLink, queue: Queue, faults: FaultBook) -> None:
        self.link = link
        self._queue = queue
        self._faults = faults
        size = queue.settings.max_message_bytes
        link.accept(
            max_message_size=size,
            properties=symbol_keys({"com.microsoft:max-message-batch-size": UInt(size)}),
        )
        link.credit_window = _CREDIT
        link.grant(_CREDIT)

    def on_message(self, event: MessageArrived) -> None:
        """Enqueue; the outcome says whether all of it was taken in."""
        match self._faults.of_send():
            case ServerBusy():
                outcome: Outcome = Rejected(Error(SERVER_BUSY, "The server is busy. Please wait and try again."))
            case LostAcceptance(applied):
                if applied:
                    self._enqueue(event)
                return
            case None:
                outcome = self._enqueue(event)
        if not event.settled:
            self.link.settle(event.delivery_id, outcome)

    def _enqueue(self, event: MessageArrived) -> Outcome:
        try:
            contents = received_messages(event.payload, event.message_format)
            accepted = self._queue.enqueue(contents)
        except DecodeError as error:
            refusal = Error(DECODE_ERROR, str(error))
        except BrokerError as error:
            refusal = to_amqp(error)
        else:
            if accepted < len(contents):
                dropped = len(contents) - accepted
                _logger.info("%s: %d of %d dropped as duplicates", self._queue.settings.name, dropped, len(contents))
            return Accepted()
        _logger.warning("%s: send refused: %s", self._queue.settings.name, refusal.condition)
        return Rejected(refusal)
