"""The HTTP front as measured on Azure Functions host 4.1037, over real sockets with the real worker library."""

import gzip
import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.tests.functions.running_host import KEY, RunningHost, command, write_app

APP = """
import asyncio
import json
import logging
import os

import azure.functions as func

bp = func.Blueprint()


def seen(req: func.HttpRequest) -> func.HttpResponse:
    answer = {
        "method": req.method,
        "headers": dict(req.headers),
        "route": dict(req.route_params),
        "query": dict(req.params),
        "body": req.get_body().decode("utf-8", "replace"),
        "octets": req.get_body().hex(),
    }
    return func.HttpResponse(json.dumps(answer), mimetype="application/json", headers={"X-Own": "1"})


@bp.route(route="echo/{word?}", methods=["GET", "POST"])
async def echo(req: func.HttpRequest) -> func.HttpResponse:
    return seen(req)


@bp.route(route="open", auth_level=func.AuthLevel.ANONYMOUS, methods=["GET"])
def open_to_all(req: func.HttpRequest, context: func.Context) -> str:
    logging.getLogger("anything").info("from a pool thread", extra={"lost": 1})
    logging.getLogger("anything").debug("hidden")
    print("printed")
    return context.trace_context.trace_parent


@bp.route(route="boom")
async def boom(req: func.HttpRequest) -> func.HttpResponse:
    raise RuntimeError("as asked")


@bp.route(route="bad-status")
async def bad_status(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("x", status_code="not a number")


@bp.route(route="surrogate")
async def surrogate(req: func.HttpRequest) -> func.HttpResponse:
    logging.info("half a pair: \\ud800")
    raise RuntimeError("half a pair: \\ud800")


@bp.route(route="pid")
async def pid(req: func.HttpRequest) -> str:
    return str(os.getpid())


@bp.route(route="none")
async def none(req: func.HttpRequest) -> func.HttpResponse:
    return None


@bp.route(route="cancel")
async def cancel(req: func.HttpRequest) -> func.HttpResponse:
    raise asyncio.CancelledError


@bp.route(route="status/{code}")
async def status(req: func.HttpRequest) -> func.HttpResponse:
    try:
        raise ValueError("inner")
    except ValueError:
        logging.exception("order A1 failed")
    return func.HttpResponse(status_code=int(req.route_params["code"]))


app = func.FunctionApp()
app.register_functions(bp)
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    directory = tmp_path_factory.mktemp("http")
    running = RunningHost.start(write_app(directory / "app", APP), directory / "host.log", {})
    yield running
    running.discard()


def test_the_ready_line_names_the_functions(host: RunningHost) -> None:
    names = ["echo", "open_to_all", "boom", "bad_status", "surrogate", "pid", "none", "cancel", "status"]
    assert host.functions == names


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("GET", "/api/unknown", "the-key"),
        ("GET", "/", "the-key"),
        ("DELETE", "/api/echo", "the-key"),
        ("HEAD", "/api/echo", "the-key"),
        ("OPTIONS", "/api/echo", "the-key"),
        ("DELETE", "/api/echo", None),
    ],
)
def test_no_such_route_or_method_is_404_empty(host: RunningHost, method: str, path: str, key: str | None) -> None:
    answer = host.request(method, path, key=key)
    assert (answer.status, answer.body) == (404, b"")


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_missing_or_wrong_key_is_401_empty(host: RunningHost, key: str | None) -> None:
    answer = host.request("GET", "/api/echo", key=key)
    assert (answer.status, answer.body) == (401, b"")


def test_key_in_the_query(host: RunningHost) -> None:
    assert host.request("GET", "/api/echo?code=the-key", key=None).status == 200
    assert host.request("GET", "/api/echo?code=wrong", key=None).status == 401


def test_what_the_function_sees(host: RunningHost) -> None:
    answer = host.request(
        "POST",
        "/api/Echo/a%20b/?x=1&x=2&empty=&y=%C3%A9",
        body="é".encode(),
        headers={"X-Mixed-Case": "v", "Content-Type": "text/plain"},
    )
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert (answer.headers["x-own"], answer.headers["transfer-encoding"]) == ("1", "chunked")
    seen = json.loads(answer.body)
    assert seen["method"] == "POST"
    assert seen["route"] == {"word": "a b"}
    assert seen["query"] == {"x": "1,2", "y": "é"}
    assert seen["body"] == "é"
    assert seen["headers"]["x-mixed-case"] == "v"
    assert all(name == name.lower() for name in seen["headers"])


def test_a_missing_optional_parameter_has_no_key(host: RunningHost) -> None:
    assert json.loads(host.request("GET", "/api/echo").body)["route"] == {}


def test_octets_that_are_no_text_are_refused_and_harm_nobody(host: RunningHost) -> None:
    for name in ("traceparent", "x-any", "x-functions-key"):
        key = None if name == "x-functions-key" else KEY
        answer = host.request("GET", "/api/echo", key=key, headers={name: "\u00e9"})  # sent as ISO 8859-1
        assert (answer.status, answer.body) == (400, b"")
    assert "Worker exited" not in host.log


def test_a_compressed_body_arrives_as_it_came(host: RunningHost) -> None:
    body = gzip.compress(b"text")
    answer = host.request("POST", "/api/echo", body=body, headers={"content-encoding": "gzip"})
    assert json.loads(answer.body)["octets"] == body.hex()


def test_repeated_headers_are_joined(host: RunningHost) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=10)
    connection.putrequest("GET", "/api/echo?code=the-key")
    connection.putheader("X-Twice", "a")
    connection.putheader("X-Twice", "b")
    connection.endheaders()
    assert json.loads(connection.getresponse().read())["headers"]["x-twice"] == "a,b"
    connection.close()


def test_a_chunked_body_arrives_empty(host: RunningHost) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=10)
    connection.request(
        "POST", "/api/echo", body=iter([b"lost"]), headers={"x-functions-key": "the-key"}, encode_chunked=True
    )
    response = connection.getresponse()
    assert response.status == 200
    assert json.loads(response.read())["body"] == ""
    connection.close()


def test_too_long_a_body_is_500_empty(host: RunningHost) -> None:
    with socket.create_connection(("127.0.0.1", host.port), timeout=10) as raw:
        raw.sendall(
            b"POST /api/echo?code=the-key HTTP/1.1\r\nHost: x\r\nContent-Length: 104857601\r\n\r\n",
        )
        head = raw.recv(65536)
    assert head.startswith(b"HTTP/1.1 500 ")
    assert head.endswith(b"\r\n\r\n")


def test_text_is_text(host: RunningHost) -> None:
    answer = host.request("GET", "/api/open", key=None)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")


def test_the_function_gets_a_new_span_of_the_callers_trace(host: RunningHost) -> None:
    trace_id, span_id = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    answer = host.request("GET", "/api/open", headers={"traceparent": f"00-{trace_id}-{span_id}-01"})
    version, trace, span, flags = answer.body.decode().split("-")
    assert (version, trace, flags) == ("00", trace_id, "01")
    assert span != span_id
    assert len(span) == 16


@pytest.mark.parametrize("path", ["/api/boom", "/api/none", "/api/cancel", "/api/bad-status", "/api/surrogate"])
def test_a_failed_function_is_500_empty(host: RunningHost, path: str) -> None:
    answer = host.request("GET", path)
    assert (answer.status, answer.body) == (500, b"")


@pytest.mark.parametrize("code", [202, 204, 404, 503])
def test_the_functions_status(host: RunningHost, code: int) -> None:
    answer = host.request("GET", f"/api/status/{code}")
    assert (answer.status, answer.body) == (code, b"")


def test_the_console_has_text_alone(host: RunningHost) -> None:
    host.request("GET", "/api/open")
    host.request("GET", "/api/status/200")
    host.request("GET", "/api/boom")
    host.wait_for_log("Host.Function.Console: printed")
    assert "INFO Function.open_to_all.User: from a pool thread\n" in host.log
    assert "ERROR Function.status.User: order A1 failed\nTraceback (most recent call last):" in host.log
    assert "ValueError: inner\n" in host.log
    assert "Executed 'Functions.boom' (Failed, Id=" in host.log
    assert "RuntimeError: as asked" in host.log
    assert "hidden" not in host.log
    assert "the-key" not in host.log


def test_the_admin_paths(host: RunningHost) -> None:
    assert host.request("GET", "/admin/host/ping", key=None).status == 200
    refused = host.request("GET", "/admin/host/status", key=None)
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    status = json.loads(host.request("GET", "/admin/host/status").body)
    assert status["state"] == "Running"
    assert status["processUptime"] > 0
    assert host.request("GET", "/admin/functions").status == 404


def test_a_taken_port_is_one_clear_line(host: RunningHost, tmp_path: Path) -> None:
    app = write_app(tmp_path / "app", APP)
    second = subprocess.run(  # noqa: S603 - our own interpreter
        command(app, "--port", str(host.port)), capture_output=True, text=True, timeout=30, check=False
    )
    assert second.returncode == 1
    assert second.stderr.startswith(f"devstack.functions: port {host.port} of 127.0.0.1 cannot be bound")
    assert "choose another port (0: a free one)" in second.stderr


def test_half_a_surrogate_pair_does_not_cost_the_worker(host: RunningHost) -> None:
    before = host.worker_pid()
    host.request("GET", "/api/surrogate")
    assert host.worker_pid() == before
    host.wait_for_log("half a pair: ?", 2)
