"""Queue `orders`: each operation on an order, effectively once and one order's in sequence."""

import azure.functions as func

from ordering.orders.deciding import decide, is_last
from ordering.orders.operations import Operation, OrderPlaced
from ordering.orders.order import Order
from ordering.orders.transactions import transactions_of
from shared.consumers import documents, operations

bp = func.Blueprint()

process_order_operation = operations(
    bp,
    name="process_order_operation",
    queue="orders",
    consumer="orders",
    message=Operation,
    key=lambda operation: operation.operation_id,
    state=documents(Order, container="orders", partition_key="/orderId", created_by=OrderPlaced),
    events_topic="order-events",
    sequence=lambda operation: operation.sequence,
    closes=is_last,
    related=transactions_of,
)(decide)
