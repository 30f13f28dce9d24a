"""Transactions on an order: added, amended."""

from collections.abc import Mapping
from copy import replace
from decimal import Decimal

from ordering.orders.operations import AMOUNT_MAX, Operation, TransactionAdded, TransactionAmended, exact
from ordering.orders.order import Order, Transaction, TransactionChanged, TransactionRecorded
from shared.idempotency.decisions import Apply, Decision, Reject
from shared.idempotency.messages import Money, State


def transactions_of(operation: Operation) -> dict[str, type[State]]:
    """The transaction that must be known before an operation is decided.

    One that is added is created without looking: if it exists, the store says so.
    """
    return {_id(operation.transaction_id): Transaction} if isinstance(operation, TransactionAmended) else {}


def add_transaction(order: Order, added: TransactionAdded, related: Mapping[str, State]) -> Decision[Order]:
    """One transaction more."""
    document_id = _id(added.transaction_id)
    if document_id in related:
        return Reject("TransactionExists", f"transactionId: {added.transaction_id} exists; amend it instead")
    total = _sum(order.transaction_total, added.amount)
    if abs(total) >= AMOUNT_MAX:
        return _too_large()
    event = TransactionRecorded(
        order_id=order.order_id,
        transaction_id=added.transaction_id,
        kind=added.kind,
        amount=added.amount,
        transaction_total=total,
    )
    new = Transaction(transaction_id=added.transaction_id, kind=added.kind, amount=added.amount)
    counted = replace(order, transaction_count=order.transaction_count + 1, transaction_total=total)
    return Apply(counted, (event,), creates={document_id: new})


def amend_transaction(order: Order, amended: TransactionAmended, related: Mapping[str, State]) -> Decision[Order]:
    """A transaction's new amount."""
    document_id = _id(amended.transaction_id)
    transaction = related.get(document_id)
    if not isinstance(transaction, Transaction):
        return Reject("TransactionNotFound", f"transactionId: there is no {amended.transaction_id} on this order")
    total = _sum(order.transaction_total, amended.amount, -transaction.amount)
    if abs(total) >= AMOUNT_MAX:
        return _too_large()
    event = TransactionChanged(
        order_id=order.order_id,
        transaction_id=amended.transaction_id,
        amount=amended.amount,
        previous_amount=transaction.amount,
        transaction_total=total,
    )
    changed = replace(transaction, amount=amended.amount)
    return Apply(replace(order, transaction_total=total), (event,), replaces={document_id: changed})


def _id(transaction_id: str) -> str:
    return f"tx:{transaction_id}"


def _sum(*amounts: Decimal) -> Money:
    with exact():
        return Money(sum(amounts))


def _too_large() -> Reject:
    return Reject("TotalTooLarge", f"amount: the order's transactions would sum up to {AMOUNT_MAX} or more")
