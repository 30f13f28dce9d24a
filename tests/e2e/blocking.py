"""Put into a copy of the app: functions that block, one on the worker's event loop and one on a thread of its pool."""

import time

import azure.functions as func

bp = func.Blueprint()


@bp.route("block-loop/{seconds}", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
async def block_loop(req: func.HttpRequest) -> func.HttpResponse:
    """Block everything that this worker does."""
    time.sleep(float(req.route_params["seconds"]))  # noqa: ASYNC251 - the fault
    return func.HttpResponse("awake")


@bp.route("block-thread/{seconds}", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
def block_thread(req: func.HttpRequest) -> func.HttpResponse:
    """Block a thread."""
    time.sleep(float(req.route_params["seconds"]))
    return func.HttpResponse("awake")
