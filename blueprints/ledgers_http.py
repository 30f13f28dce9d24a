"""HTTP ingress of ledgers, and what has become of them.

    POST /api/ledgers?ledgerId=2009-12-01&source=shop-7   202 when the broker has every part
    GET  /api/ledgers/{ledgerId}                          how much of it was sent to its orders

The body is a JSON array of operations, or NDJSON with one operation a line. All of it is checked before any is taken.
`ledgerId` is the idempotency key: the same ledger again is dropped by the broker or completed as a duplicate; another
under its name is dead-lettered `RequestHashMismatch`.
"""

import asyncio
from collections.abc import Sequence

import azure.functions as func

from blueprints.fan_out_ledger import fan_out_ledger
from blueprints.http_answers import read_body, respond
from ordering.ledgers.cutting import part_messages
from ordering.ledgers.reading import read_ledger
from ordering.ledgers.status import FAULTS_SHOWN, ledger_status
from shared.fan_out.bundle import Fault
from shared.http.problem import Answer, json_answer, problem
from shared.idempotency.errors import DeadLetterReason, PermanentError
from shared.idempotency.keys import check_identifier
from shared.idempotency.ports import Find
from shared.idempotency.search import find_all
from shared.outbox.outgoing import OutgoingMessage
from shared.runtime import runtime
from shared.telemetry import traceparent_of

bp = func.Blueprint()


@bp.route("ledgers", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
async def post_ledger(req: func.HttpRequest) -> func.HttpResponse:
    """Take a ledger."""
    return await respond(_post_ledger(req))


@bp.route("ledgers/{ledgerId}", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
async def get_ledger(req: func.HttpRequest) -> func.HttpResponse:
    """Show what has become of a ledger."""
    return await respond(_get_ledger(req.route_params["ledgerId"]))


async def _post_ledger(req: func.HttpRequest) -> Answer:
    clients = runtime()
    ledger_id, source = req.params.get("ledgerId", ""), req.params.get("source", "")
    check_identifier("ledgerId", ledger_id)
    check_identifier("source", source)
    body = read_body(req)
    if len(body) > clients.settings.ledger_bytes_max:
        raise PermanentError(
            DeadLetterReason.PAYLOAD_TOO_LARGE,
            f"body: {len(body)} bytes, the limit is {clients.settings.ledger_bytes_max} bytes; "
            "post several ledgers, or send parts to the queue",
        )
    traceparent = traceparent_of(req.headers.get("traceparent"))
    # A second of CPU time for the largest ledger: beside the loop, on which other functions run.
    lines, faults = await asyncio.to_thread(read_ledger, body, body_bytes_max=clients.settings.body_bytes_max)
    if faults:
        return _refusal(faults)
    messages = await asyncio.to_thread(part_messages, ledger_id, source, lines, traceparent)
    await _send(messages)
    return json_answer(
        202,
        {"ledgerId": ledger_id, "source": source, "parts": len(messages), "operations": len(lines)},
        headers={"Location": f"/api/ledgers/{ledger_id}"},
    )


async def _send(messages: Sequence[OutgoingMessage]) -> None:
    """Send all; whoever gets an error sends the same ledger again, under the same MessageIds."""
    queue, sent = runtime().sender(fan_out_ledger.queue), 0
    while sent < len(messages):
        accepted = await queue.send_batch(messages[sent:])
        if accepted == 0:
            raise PermanentError(DeadLetterReason.PAYLOAD_TOO_LARGE, f"part {sent + 1}: larger than the queue takes")
        sent += accepted


def _refusal(faults: Sequence[Fault]) -> Answer:
    return problem(
        400,
        f"{len(faults)} lines cannot be taken, so nothing was. The first {FAULTS_SHOWN} are listed at most.",
        reason=DeadLetterReason.INVALID_MESSAGE,
        faults=[fault.as_json() for fault in faults[:FAULTS_SHOWN]],
    )


async def _get_ledger(ledger_id: str) -> Answer:
    check_identifier("ledgerId", ledger_id)
    store = runtime().store(fan_out_ledger.container)
    documents = [found.body async for found in find_all(store, Find(has="part"), partition=ledger_id)]
    if not documents:
        return problem(404, f"There is no ledger {ledger_id}, or not yet.")
    return json_answer(200, ledger_status(ledger_id, documents))
