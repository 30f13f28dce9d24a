"""More requests than host.json allows at once."""

from concurrent.futures import ThreadPoolExecutor

from devstack.tests.functions.conftest import StartHost

WAITING_APP = """
import asyncio

import azure.functions as func

app = func.FunctionApp()
gate = asyncio.Event()


@app.route(route="wait")
async def wait(req: func.HttpRequest) -> str:
    await gate.wait()
    return "done"


@app.route(route="let-go")
async def let_go(req: func.HttpRequest) -> str:
    gate.set()
    return "done"
"""


def test_too_many_requests_are_429(start_host: StartHost) -> None:
    http_settings = {"maxConcurrentRequests": 2, "maxOutstandingRequests": 2}
    host = start_host(WAITING_APP, {"version": "2.0", "extensions": {"http": http_settings}})
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(host.request, "GET", "/api/wait")
        host.wait_for_log("Executing 'Functions.wait'")
        also_waiting = pool.submit(host.request, "GET", "/api/wait")
        host.wait_for_log("Executing 'Functions.wait'", times=2)
        refused = host.request("GET", "/api/wait")
        assert (refused.status, refused.body) == (429, b"")
        assert refused.headers["x-function-scaleout"] == "1"
        host.process.kill()
        for request in (waiting, also_waiting):
            assert request.exception() is not None
