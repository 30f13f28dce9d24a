"""What the host does when its worker, or the host itself, is killed."""

import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

from devstack.tests.functions.conftest import StartHost
from devstack.tests.functions.running_host import is_alive, until

APP = """
import asyncio
import os
import subprocess
import time

import azure.functions as func

app = func.FunctionApp()


@app.route(route="pid")
async def pid(req: func.HttpRequest) -> str:
    return str(os.getpid())


@app.route(route="child")
async def child(req: func.HttpRequest) -> str:
    return str(subprocess.Popen(["sleep", "600"]).pid)


@app.route(route="sleep")
async def sleep(req: func.HttpRequest) -> str:
    await asyncio.sleep(float(req.params["seconds"]))
    return "slept"


@app.route(route="block")
async def block(req: func.HttpRequest) -> str:
    time.sleep(600)
    return "never"


@app.route(route="exit")
async def leave(req: func.HttpRequest) -> str:
    raise SystemExit(7)
"""


def test_requests_in_flight_fail_and_later_ones_wait_for_the_new_worker(start_host: StartHost) -> None:
    host = start_host(APP)
    first = host.worker_pid()
    with ThreadPoolExecutor(2) as pool:
        in_flight = [pool.submit(host.request, "GET", "/api/sleep?seconds=600") for _ in range(2)]
        host.wait_for_log("Executing 'Functions.sleep'", times=2)
        os.kill(first, signal.SIGKILL)
        assert [(answer.result().status, answer.result().body) for answer in in_flight] == [(500, b"")] * 2
    second = host.worker_pid()
    assert second != first
    assert "Worker exited with code -9. Restarting in 0.0 s." in host.log


def test_what_the_worker_started_dies_with_it(start_host: StartHost) -> None:
    host = start_host(APP)
    grandchild = int(host.request("GET", "/api/child").body)
    os.kill(host.worker_pid(), signal.SIGKILL)
    until(lambda: not is_alive(grandchild), "end of the worker's own child")


def test_the_third_crash_recycles_the_host(start_host: StartHost) -> None:
    host = start_host(APP)
    assert host.request("GET", "/api/exit").status == 500
    host.wait_for_log("Worker started")
    restarted = time.monotonic()
    assert host.request("GET", "/api/exit").status == 500
    # Held until ten seconds after the restart.
    os.kill(host.worker_pid(), signal.SIGKILL)
    assert time.monotonic() - restarted > 9
    assert host.process.wait(timeout=20) == 0
    assert "Worker exited with code 7. Restarting in 0.0 s." in host.log
    assert "Exceeded language worker restart retry count" in host.log


def test_a_blocked_worker_dies_with_the_host(start_host: StartHost) -> None:
    host = start_host(APP)
    worker = host.worker_pid()
    with ThreadPoolExecutor(1) as pool:
        blocked = pool.submit(host.request, "GET", "/api/block")
        host.wait_for_log("Executing 'Functions.block'")
        host.process.kill()
        until(lambda: not is_alive(worker), "end of the worker")
        assert blocked.exception() is not None


def test_a_function_that_runs_too_long_restarts_the_worker(start_host: StartHost) -> None:
    host = start_host(APP, {"version": "2.0", "functionTimeout": "00:00:01"})
    first = host.worker_pid()
    started = time.monotonic()
    assert host.request("GET", "/api/sleep?seconds=600").status == 500
    assert 3.0 <= time.monotonic() - started < 10
    assert "Timeout value of 1.0 s exceeded by function 'sleep'" in host.log
    assert host.worker_pid() != first


def test_stop_lets_requests_in_flight_finish_and_closes_the_port(start_host: StartHost) -> None:
    host = start_host(APP)
    worker = host.worker_pid()
    with ThreadPoolExecutor(1) as pool:
        in_flight = pool.submit(host.request, "GET", "/api/sleep?seconds=1.5")
        host.wait_for_log("Executing 'Functions.sleep'")
        host.process.send_signal(signal.SIGTERM)
        until(lambda: refuses(host.port), "the port is closed", seconds=1.0)
        assert in_flight.result().body == b"slept"
    assert host.process.wait(timeout=10) == 0
    assert not is_alive(worker)


def test_stop_cuts_what_runs_longer_than_ten_seconds(start_host: StartHost) -> None:
    host = start_host(APP)
    worker = host.worker_pid()
    with ThreadPoolExecutor(1) as pool:
        cut = pool.submit(host.request, "GET", "/api/block")
        host.wait_for_log("Executing 'Functions.block'")
        stopping = time.monotonic()
        assert host.stop() == 0
        assert 9 < time.monotonic() - stopping < 16
        assert cut.exception() is not None or cut.result().status == 500
    assert not is_alive(worker)


def refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
