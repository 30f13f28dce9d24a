import json
from collections.abc import Mapping

import pytest

from devstack.functions.triggers import (
    AuthLevel,
    Function,
    HttpTrigger,
    SessionTrigger,
    Trigger,
    UnsupportedBindingError,
    triggers_of,
)
from devstack.functions.wire import FunctionMetadata

QUEUE = {
    "type": "serviceBusTrigger",
    "name": "message",
    "queueName": "%Queue%",
    "connection": "Bus",
    "isSessionsEnabled": True,
    "cardinality": "one",
    "properties": {"SupportsDeferredBinding": True},
}


def trigger(*bindings: Mapping[str, object]) -> Trigger:
    metadata = FunctionMetadata(name="f", function_id="id", raw_bindings=tuple(map(json.dumps, bindings)))
    (only,) = triggers_of([metadata])
    return only


def test_http_trigger() -> None:
    binding = {
        "type": "httpTrigger",
        "name": "req",
        "route": "a/{b}",
        "methods": ["GET"],
        "authLevel": "ANONYMOUS",
    }
    assert trigger(binding, {"type": "http", "name": "$return"}) == HttpTrigger(
        function=Function(name="f", function_id="id", parameter="req"),
        route="a/{b}",
        methods=frozenset({"GET"}),
        auth_level=AuthLevel.ANONYMOUS,
    )


def test_http_defaults() -> None:
    assert trigger({"type": "httpTrigger", "name": "req"}) == HttpTrigger(
        function=Function(name="f", function_id="id", parameter="req"),
        route="f",
        methods=frozenset(),
        auth_level=AuthLevel.FUNCTION,
    )


@pytest.mark.parametrize(("said", "completes"), [({}, True), ({"autoCompleteMessages": False}, False)])
def test_session_trigger(said: dict[str, object], completes: bool) -> None:
    assert trigger(QUEUE | said) == SessionTrigger(
        function=Function(name="f", function_id="id", parameter="message"),
        queue_name="%Queue%",
        connection="Bus",
        auto_complete_messages=completes,
    )


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        ({"isSessionsEnabled": False}, "lacks isSessionsEnabled"),
        ({"cardinality": "many"}, "lacks cardinality one"),
        ({"properties": {}}, "lacks an SDK-type parameter"),
    ],
)
def test_other_service_bus_triggers_are_refused(change: dict[str, object], lacking: str) -> None:
    with pytest.raises(UnsupportedBindingError, match=f"function f: .*{lacking}"):
        trigger(QUEUE | change)


def test_other_bindings_are_refused() -> None:
    with pytest.raises(UnsupportedBindingError, match="function f: binding type blobTrigger"):
        trigger({"type": "blobTrigger", "name": "blob"})


def test_a_timer_that_runs_at_the_start_is_refused() -> None:
    with pytest.raises(UnsupportedBindingError, match="function f: runOnStartup"):
        trigger({"type": "timerTrigger", "name": "timer", "schedule": "00:01:00", "runOnStartup": True})


def test_a_function_needs_a_trigger() -> None:
    with pytest.raises(UnsupportedBindingError, match="function f: it has no trigger"):
        trigger({"type": "http", "name": "$return"})
