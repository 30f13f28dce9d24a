"""What looks after the orders, once a minute: drains what stayed, reports what waits, sends what was sent back.

None of it is needed for an order to be right; all of it for an order not to be forgotten.
"""

import logging

import azure.functions as func

from blueprints.process_order_operation import process_order_operation
from shared.consumers import convoy_engine
from shared.convoy.waiting import drain_what_is_due, report_waiting
from shared.outbox.relay import sweep
from shared.runtime import runtime

bp = func.Blueprint()

EVERY_MINUTE = "0 * * * * *"
_log = logging.getLogger(__name__)


@bp.timer_trigger(arg_name="timer", schedule=EVERY_MINUTE)
async def report_waiting_orders(timer: func.TimerRequest) -> None:
    """Drain orders in which something fell due and nobody came; count those that wait for an operation."""
    clients = runtime()
    store = clients.store(process_order_operation.documents.container)
    drained = await drain_what_is_due(store, convoy_engine(process_order_operation, clients).drain)
    report = await report_waiting(store, clients.clock.now())
    # One line to alert on: a number that stays means that an operation is missing or rejected.
    _log.info(
        "waiting_orders=%d parked_operations=%d oldest_seconds=%d drained_operations=%d",
        report.partitions,
        report.messages,
        report.oldest.total_seconds(),
        drained,
    )


@bp.timer_trigger(arg_name="timer", schedule=EVERY_MINUTE)
async def sweep_outbox(timer: func.TimerRequest) -> None:
    """Send what lies in the outbox for the queue `orders`: operations that were sent back."""
    clients = runtime()
    queue = process_order_operation.queue
    sent = await sweep(clients.store(process_order_operation.documents.container), queue, clients.sender(queue))
    if sent:
        _log.info("outbox=sent destination=%s messages=%d", queue, sent)
