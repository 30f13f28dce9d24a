"""A stack that is stopped in the middle of its work ends cleanly: what is in flight is finished, nothing is cut."""

import os
import signal
from collections import Counter
from pathlib import Path

from tests.e2e.clean_stack import PARTS, clean_stack, processes_of
from tests.e2e.orders import message, order
from tests.e2e.outside import Outside, request
from tests.running_stack import Stack, deployed_app, until

ORDERS = [order(f"stopped-{number}") for number in range(50)]
"""Fewer than host.json lets run at once."""


def test_a_stop_with_orders_in_flight_and_queued_is_clean(tmp_path: Path) -> None:
    app = deployed_app(tmp_path / "app")
    # Longer than the store is made to hang.
    with clean_stack(app, {"STORE_CALL_SECONDS": "60", "TRY_SECONDS": "60"}) as stack:
        (the_stack,) = (pid for pid, command in processes_of(app).items() if "-m devstack --app" in command)
        (the_store,) = (pid for pid, command in processes_of(app).items() if "devstack.cosmos" in command)
        with Outside.of(stack) as outside:
            os.kill(the_store, signal.SIGSTOP)
            outside.send(*(message(placed) for placed in ORDERS))
            outside.send(*(message(placed, "copy1") for placed in ORDERS))
            until(lambda: stack.log().count("Executing 'Functions.process_") == 50, "50 orders in flight")
        os.kill(the_stack, signal.SIGTERM)
        until(lambda: not _listens(stack), "the begin of the stop")
        assert stack.dispositions() == []
        os.kill(the_store, signal.SIGCONT)
        until(lambda: processes_of(app) == {}, "the end of the stack")
    lines = stack.dispositions()
    # A host may take what is queued until its listeners stop.
    outcomes = Counter(word for line in lines for word in ("outcome=applied", "outcome=duplicate") if word in line)
    assert outcomes["outcome=applied"] == 50
    assert outcomes.total() == len(lines)
    for word in ("Executing 'Functions.process_", "Executed 'Functions.process_order_operation' (Succeeded, "):
        assert stack.log().count(word) == len(lines)
    assert [part for part in PARTS if "Traceback" in stack.log(part)] == []


def _listens(stack: Stack) -> bool:
    try:
        request(stack.env, "GET", "/api/health/live")
    except ConnectionError:
        return False
    return True
