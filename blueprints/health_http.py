"""Whether the process lives, and whether it can work.

The host stays Running with a wrong key or a missing queue, so that only `ready` tells.
"""

import asyncio
from collections.abc import Awaitable

import azure.functions as func

from blueprints.fan_out_ledger import fan_out_ledger
from blueprints.http_answers import respond
from blueprints.process_order_operation import process_order_operation
from shared.http.problem import Answer, json_answer
from shared.idempotency.errors import ReliabilityError
from shared.idempotency.json_text import Json
from shared.runtime import runtime

bp = func.Blueprint()

_QUEUES = (process_order_operation.queue, fan_out_ledger.queue)
_CONTAINERS = (process_order_operation.documents.container, fan_out_ledger.container)


@bp.route("health/live", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
async def get_live(req: func.HttpRequest) -> func.HttpResponse:
    """The worker answers."""
    return await respond(_live())


@bp.route("health/ready", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
async def get_ready(req: func.HttpRequest) -> func.HttpResponse:
    """Broker and store answer, each named."""
    return await respond(_ready())


async def _live() -> Answer:
    return json_answer(200, {"status": "alive"})


async def _ready() -> Answer:
    broker, store = await asyncio.gather(_check(_ask_broker()), _check(_ask_store()))
    ready = broker == store == "ok"
    checks: Json = {"broker": broker, "store": store}
    return json_answer(200 if ready else 503, {"status": "ready" if ready else "unavailable", "checks": checks})


async def _ask_broker() -> None:
    clients = runtime()
    await asyncio.gather(*(clients.probe(queue).check() for queue in _QUEUES))


async def _ask_store() -> None:
    # A document that is never there: the answer "missing" comes from the container.
    clients = runtime()
    await asyncio.gather(*(clients.store(name).read("readiness", "readiness") for name in _CONTAINERS))


async def _check(asking: Awaitable[None]) -> str:
    try:
        async with asyncio.timeout(5):
            await asking
    except ReliabilityError as error:
        return str(error)
    except TimeoutError:
        return "no answer in 5 seconds"
    return "ok"
