"""What an operation does to an order."""

from collections.abc import Mapping
from copy import replace
from typing import assert_never

from ordering.orders.operations import (
    Operation,
    OrderDeleted,
    OrderPlaced,
    SequenceVoided,
    TransactionAdded,
    TransactionAmended,
)
from ordering.orders.order import Order, OrderWithdrawn
from ordering.orders.placing import place_order
from ordering.orders.transactions import add_transaction, amend_transaction
from shared.idempotency.decisions import Apply, Decision, Ignore, Reject
from shared.idempotency.messages import State


def decide(order: Order | None, operation: Operation, related: Mapping[str, State]) -> Decision[Order]:
    """Decide one operation, in its turn."""
    if isinstance(operation, OrderPlaced):
        return place_order(order, operation)
    if order is None:
        # Number 1 is the placing's, so that nothing else has its turn before it.
        return Reject("OrderNotPlaced", "orderId: there is no such order")
    match operation:
        case TransactionAdded():
            return add_transaction(order, operation, related)
        case TransactionAmended():
            return amend_transaction(order, operation, related)
        case OrderDeleted():
            return Apply(replace(order, state="deleted"), (OrderWithdrawn(order_id=order.order_id),))
        case SequenceVoided():
            return Ignore("voided")
        case _:
            assert_never(operation)


def is_last(operation: Operation) -> bool:
    """Whether no operation may follow."""
    return operation.end_of_sequence or isinstance(operation, OrderDeleted)
