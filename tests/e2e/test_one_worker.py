"""What shares a worker: its event loop, and its connections."""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from pathlib import Path

import pytest

from tests.e2e.apps import blocking_app
from tests.e2e.clean_stack import clean_stack, processes_of
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import ROOT

SETTINGS = {"STORE_CALL_SECONDS": "1", "SETTLEMENT_SECONDS": "1", "SEND_SECONDS": "1", "RETRY_WAIT_SECONDS_MAX": "0.2"}
"""Shorter than the loop is blocked: every call that was on its way runs into its limit."""

BLOCKED_SECONDS = 3

OTHER_SOCKETS_MAX = 16
"""Of the event loops, of gRPC to the host, of the broker's sender."""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    app = blocking_app(tmp_path_factory.mktemp("one-worker"))
    with clean_stack(app, SETTINGS) as stack, Outside.of(stack) as opened:
        yield opened


def place_and_check(outside: Outside, names: list[str]) -> None:
    """Place each order, with a copy and a changed one behind it, and check what became of them."""
    first = [message(order(name)) for name in names]
    copies = [message(order(name), "copy1") for name in names]
    others = [message(changed(order(name))) for name in names]
    outside.send(*first)
    outside.send(*copies)
    outside.send(*others)
    outside.settled(*(str(sent.message_id) for sent in (*first, *copies, *others)))
    assert documents_of(outside, names) == {name: {name, "out:1"} for name in names}
    assert {str(sent.message_id) for sent in others} <= outside.dead_letters().keys()
    assert not {str(sent.message_id) for sent in (*first, *copies)} & outside.dead_letters().keys()


def documents_of(outside: Outside, names: Iterable[str]) -> dict[str, set[str]]:
    """The ids of each order's documents."""
    return {name: set(outside.partition(name)) for name in names}


def test_a_blocked_event_loop_costs_the_others_time_and_nothing_else(outside: Outside) -> None:
    with ThreadPoolExecutor(1) as threads:
        # What is in flight as the block begins, what comes meanwhile, and what comes later.
        earlier = [f"earlier-{number}" for number in range(20)]
        outside.send(*(message(order(name)) for name in earlier))
        blocking = threads.submit(outside.request, "POST", f"/api/block-loop/{BLOCKED_SECONDS}")
        place_and_check(outside, [f"loop-{number}" for number in range(20)])
        assert blocking.result().status == 200
    outside.settled(*(str(message(order(name)).message_id) for name in earlier))
    assert documents_of(outside, earlier) == {name: {name, "out:1"} for name in earlier}


def test_a_blocked_thread_costs_the_others_nothing(outside: Outside) -> None:
    with ThreadPoolExecutor(1) as threads:
        blocking = threads.submit(outside.request, "POST", "/api/block-thread/10")
        place_and_check(outside, [f"thread-{number}" for number in range(20)])
        assert not blocking.done()


def test_a_thousand_invocations_share_their_connections(outside: Outside) -> None:
    (worker,) = (pid for pid, command in processes_of(outside.stack.app).items() if "worker/__main__.py" in command)
    invoke(outside, 1_000)
    # The store's client opens as many as there are calls at a time: one for each session that host.json lets run.
    slots = json.loads((ROOT / "host.json").read_text(encoding="utf-8"))["extensions"]["serviceBus"]
    assert sockets_of(worker) <= slots["maxConcurrentSessions"] + OTHER_SOCKETS_MAX


def invoke(outside: Outside, count: int) -> None:
    """Orders over the queue, every tenth over HTTP: every client of the app is used."""
    orders = [order(f"many-{number}") for number in range(count)]
    for some in batched(orders, 100, strict=False):
        outside.send(*(message(placed) for number, placed in enumerate(some) if number % 10))
        for placed in some[::10]:
            assert outside.request("POST", "/api/orders", json.dumps(placed).encode()).status == 202
    outside.settled(*(str(message(placed).message_id) for placed in orders))


def sockets_of(process: int) -> int:
    """How many sockets a process holds open."""
    opened = Path(f"/proc/{process}/fd").iterdir()
    return sum(str(entry.readlink()).startswith("socket:") for entry in opened)
