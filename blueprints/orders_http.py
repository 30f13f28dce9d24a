"""HTTP ingress of orders, and what has become of them.

    POST /api/orders                                      202 when the broker has the operation
    GET  /api/orders/{orderId}                            the order
    GET  /api/orders/{orderId}/operations/{operationId}   whether an operation is applied
    GET  /api/orders?waiting=true[&continuation=...]      orders in which operations wait for one that is missing

`orderId` is the idempotency key: the same request again is dropped by the broker or completed as a duplicate; another
request under it is dead-lettered `RequestHashMismatch`. No Idempotency-Key header is needed.
"""

import azure.functions as func

from blueprints.http_answers import read_body, respond
from blueprints.process_order_operation import process_order_operation
from ordering.orders.operations import OrderPlaced
from shared.convoy.waiting import waiting_page
from shared.http.problem import Answer, json_answer, problem
from shared.idempotency.json_text import Json
from shared.idempotency.keys import check_identifier, message_id_of
from shared.idempotency.messages import parse_message, to_document
from shared.idempotency.ports import StoredDocument
from shared.idempotency.request_hash import request_hash
from shared.outbox.outgoing import OutgoingMessage
from shared.runtime import runtime
from shared.telemetry import traceparent_of

bp = func.Blueprint()

WAITING_ORDERS_MAX = 50
"""Of one page."""

_DOCUMENTS = process_order_operation.documents


@bp.route("orders", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
async def post_order(req: func.HttpRequest) -> func.HttpResponse:
    """Take an `OrderPlaced` operation."""
    return await respond(_post_order(req))


@bp.route("orders", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
async def get_waiting_orders(req: func.HttpRequest) -> func.HttpResponse:
    """List the orders that wait."""
    return await respond(_get_waiting_orders(req.params.get("waiting"), req.params.get("continuation")))


@bp.route("orders/{orderId}", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
async def get_order(req: func.HttpRequest) -> func.HttpResponse:
    """Show an order."""
    return await respond(_get_order(req.route_params["orderId"]))


@bp.route("orders/{orderId}/operations/{operationId}", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
async def get_operation(req: func.HttpRequest) -> func.HttpResponse:
    """Show what has become of an operation."""
    return await respond(_get_operation(req.route_params["orderId"], req.route_params["operationId"]))


async def _post_order(req: func.HttpRequest) -> Answer:
    body = read_body(req)
    placed = parse_message(body, OrderPlaced, bytes_max=runtime().settings.body_bytes_max)
    hashed = request_hash(placed)
    message_id = message_id_of(placed.operation_id, hashed)
    # The body goes on as it came: what was checked is what is applied.
    await (
        runtime()
        .sender("orders")
        .send(
            OutgoingMessage(
                message_id=message_id,
                session_id=placed.order_id,
                body=body,
                traceparent=traceparent_of(req.headers.get("traceparent")),
            )
        )
    )
    return json_answer(
        202,
        {
            "orderId": placed.order_id,
            "operationId": placed.operation_id,
            "requestHash": hashed,
            "messageId": message_id,
        },
        headers={"Location": f"/api/orders/{placed.order_id}/operations/{placed.operation_id}"},
    )


async def _get_waiting_orders(waiting: str | None, continuation: str | None) -> Answer:
    if waiting != "true":
        return problem(400, "waiting: must be true; orders are not listed otherwise")
    store = runtime().store(_DOCUMENTS.container)
    page = await waiting_page(store, continuation=continuation or None, partitions_max=WAITING_ORDERS_MAX)
    orders: list[Json] = [
        {"orderId": each.partition, "waitingForSequence": each.number, "since": each.since, "parked": each.parked}
        for each in page.partitions
    ]
    more: dict[str, Json] = {} if page.continuation is None else {"continuation": page.continuation}
    return json_answer(200, {"orders": orders, **more})


async def _get_order(order_id: str) -> Answer:
    check_identifier("orderId", order_id)
    stored = await _read(order_id, order_id)
    order = None if stored is None else _DOCUMENTS.read_state(stored)
    if stored is None or order is None:
        return problem(404, f"There is no order {order_id}, or not yet.")
    known = {name: stored.body[name] for name in ("closed", "lastSequence", "createdAt", "updatedAt")}
    return json_answer(200, {**to_document(order), **known})


async def _get_operation(order_id: str, operation_id: str) -> Answer:
    check_identifier("orderId", order_id)
    check_identifier("operationId", operation_id)
    placing = operation_id == order_id
    stored = await _read(order_id, order_id if placing else f"op:{operation_id}")
    if stored is None or "requestHash" not in stored.body:
        return problem(404, f"Operation {operation_id} of order {order_id} is not applied, or not yet.")
    return json_answer(
        200,
        {
            "orderId": order_id,
            "operationId": operation_id,
            # The order is the marker of its own placing.
            "state": "applied" if placing else stored.body["state"],
            "requestHash": stored.body["requestHash"],
            "appliedAt": stored.body.get("createdAt" if placing else "appliedAt"),
        },
    )


async def _read(order_id: str, document_id: str) -> StoredDocument | None:
    return await runtime().store(_DOCUMENTS.container).read(order_id, document_id)
