"""A broker or store that dies or hangs, or settings that are wrong: the app says so, and accepts nothing."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.orders import changed, order
from tests.e2e.outside import request
from tests.running_stack import Part, deployed_app, running_part, until

BODY = json.dumps(order("unheard")).encode()


@dataclass(frozen=True)
class App:
    """The app on parts that a test may break."""

    env: dict[str, str]
    broker: Part
    store: Part


@contextmanager
def running_app(folder: Path, **settings: str) -> Iterator[App]:
    app = deployed_app(folder / "app")
    topology = str(app / "infra" / "topology.json")
    with ExitStack() as stack:
        broker = stack.enter_context(running_part("servicebus", app, "--topology", topology))
        store = stack.enter_context(running_part("cosmos", app, "--topology", topology))
        env = {
            "ServiceBusConnection": broker.ready["connectionString"],
            "CosmosConnection": store.ready["connectionString"],
            "SEND_SECONDS": "3",
            "STORE_CALL_SECONDS": "2",
            **settings,
        }
        host = stack.enter_context(running_part("functions", app, "--app", str(app), settings=env))
        yield App({"FUNCTIONS_URL": host.ready["url"], "FUNCTIONS_KEY": host.ready["key"]}, broker, store)


@pytest.fixture(scope="module", params=[signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def cut_off(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    with running_app(tmp_path_factory.mktemp("parts")) as app:
        for part in (app.broker, app.store):
            part.process.send_signal(request.param)
        yield app.env


def test_an_order_is_not_accepted_before_the_broker_has_it(cut_off: dict[str, str]) -> None:
    answer = request(cut_off, "POST", "/api/orders", BODY)
    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["detail"] == "The service cannot reach a part of itself. Send the same request again."


def test_what_is_stored_cannot_be_read(cut_off: dict[str, str]) -> None:
    for path in ("/api/orders/a", "/api/orders/a/operations/a"):
        answer = request(cut_off, "GET", path)
        assert (answer.status, answer.headers["retry-after"]) == (503, "2")


def test_a_faulty_order_is_refused_all_the_same(cut_off: dict[str, str]) -> None:
    assert request(cut_off, "POST", "/api/orders", b"{").status == 400


def test_it_is_alive_and_not_ready(cut_off: dict[str, str]) -> None:
    assert request(cut_off, "GET", "/api/health/live").status == 200
    answer = request(cut_off, "GET", "/api/health/ready")
    assert answer.status == 503
    assert answer.json["status"] == "unavailable"
    assert set(answer.json["checks"]) == {"broker", "store"}
    assert "ok" not in answer.json["checks"].values()


def test_the_part_that_hangs_is_named_and_found_again_when_it_is_back(tmp_path: Path) -> None:
    with running_app(tmp_path) as app:

        def is_ready() -> bool:
            return request(app.env, "GET", "/api/health/ready").status == 200

        until(is_ready, "a ready app")
        for name, part, other in (("broker", app.broker, "store"), ("store", app.store, "broker")):
            part.process.send_signal(signal.SIGSTOP)
            answer = request(app.env, "GET", "/api/health/ready")
            assert (answer.status, answer.json["checks"][other]) == (503, "ok")
            assert answer.json["checks"][name] != "ok"
            part.process.send_signal(signal.SIGCONT)
            until(is_ready, f"the {name} again")


def test_an_order_whose_acceptance_was_not_told_is_sent_again_and_placed_once(tmp_path: Path) -> None:
    with running_app(tmp_path) as app:

        def post(body: bytes) -> int:
            return request(app.env, "POST", "/api/orders", body).status

        app.broker.process.send_signal(signal.SIGSTOP)
        assert post(BODY) == 503
        app.broker.process.send_signal(signal.SIGCONT)
        until(lambda: post(BODY) == 202, "the broker again")
        # Another request under the id comes behind whatever was sent before it.
        assert post(json.dumps(changed(order("unheard"))).encode()) == 202
        log = tmp_path / "app" / "functions.log"
        until(lambda: "RequestHashMismatch" in log.read_text(encoding="utf-8"), "the end of the last one")
    outcomes = re.findall(r"disposition=\S+ outcome=(\S+)", log.read_text(encoding="utf-8"))
    assert outcomes == ["applied", "RequestHashMismatch"]


def test_wrong_settings_are_not_ready_and_named_in_the_log(tmp_path: Path) -> None:
    with running_app(tmp_path, TRY_SECONDS="soon", CosmosConnection="") as app:
        answer = request(app.env, "POST", "/api/orders", BODY)
        assert (answer.status, answer.headers["retry-after"]) == (503, "60")
        assert "soon" not in answer.json["detail"]
        ready = request(app.env, "GET", "/api/health/ready")
        assert ready.status == 503
        assert "TRY_SECONDS: must be a number" in ready.json["checks"]["store"]
        assert request(app.env, "GET", "/api/health/live").status == 200
    log = (tmp_path / "app" / "functions.log").read_text(encoding="utf-8")
    assert "CosmosConnection: is missing" in log
    assert "TRY_SECONDS: must be a number" in log
