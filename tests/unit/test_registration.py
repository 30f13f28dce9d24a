"""Registering a consumer: what the trigger is told, what comes back, and which faults are named at once."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.consumers import documents, operations
from shared.idempotency.decisions import Decision, Ignore
from shared.idempotency.errors import ConfigurationError
from shared.idempotency.messages import Message
from shared.outbox.events import EventStream
from shared.servicebus.binding import SessionMessage
from tests.unit.example_consumers import (
    ACCOUNTS,
    LOYALTY,
    Account,
    AccountMessage,
    AccountOpened,
    Points,
    PointsGranted,
    add_points,
)


class Recording:
    """Notes what a blueprint is asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.triggers: list[dict[str, Any]] = []
        self.functions: list[Callable[..., object]] = []

    def function_name(self, name: str) -> Callable[..., object]:
        self.names.append(name)
        return lambda function: function

    def service_bus_queue_trigger(
        self,
        arg_name: str,
        connection: str,
        queue_name: str,
        *,
        is_sessions_enabled: bool | None = None,
        cardinality: str | None = None,
        auto_complete_messages: bool | None = None,
    ) -> Callable[..., object]:
        self.triggers.append({name: value for name, value in locals().items() if name != "self"})

        def register(function: Callable[..., object]) -> Callable[..., object]:
            self.functions.append(function)
            return function

        return register


def grant_id(grant: PointsGranted) -> str:
    return grant.grant_id


STATE = documents(Points, container="loyalty", partition_key="/customerId")


def test_the_trigger_takes_one_message_of_a_session_at_a_time() -> None:
    bp = Recording()
    operations(bp, queue="points", consumer="loyalty", message=PointsGranted, key=grant_id, state=STATE)(add_points)
    assert bp.names == ["add_points"]
    assert bp.triggers == [
        {
            "arg_name": "message",
            "connection": "ServiceBusConnection",
            "queue_name": "points",
            "is_sessions_enabled": True,
            "cardinality": "one",
            "auto_complete_messages": True,
        }
    ]
    (function,) = bp.functions
    assert function.__name__ == "add_points"
    # The worker reads the annotation, and so hands over the SDK's message.
    assert function.__annotations__ == {"message": SessionMessage, "return": None}


def test_the_consumer_comes_back_as_data() -> None:
    made = operations(
        Recording(), queue="points", consumer="loyalty", message=PointsGranted, key=grant_id, state=STATE
    )(add_points)
    assert (made.name, made.message, made.key, made.documents, made.decide) == (
        LOYALTY.name, PointsGranted, grant_id, LOYALTY.documents, add_points,
    )  # fmt: skip
    assert made.events == EventStream(destination="loyalty-events", source="/loyalty")


def test_names_can_be_chosen() -> None:
    bp = Recording()
    made = operations(
        bp, queue="q", consumer="accounts", message=AccountMessage, key=ACCOUNTS.key, name="keep_accounts",
        state=documents(Account, container="accounts", partition_key="/accountId", created_by=AccountOpened),
        events_topic="told",
    )(ACCOUNTS.decide)  # fmt: skip
    assert bp.names == ["keep_accounts"]
    assert made.events == EventStream(destination="told", source="/accounts")
    assert made.documents.created_by is AccountOpened


def test_a_registration_that_does_not_fit_is_refused_at_once() -> None:
    class Unplaced(Message, frozen=True, kw_only=True):
        grant_id: str

    def decide(points: Points | None, message: Unplaced) -> Decision[Points]:
        return Ignore("nothing")

    bp = Recording()
    with pytest.raises(ConfigurationError, match="Unplaced: add the partition key's field customerId"):
        operations(bp, queue="q", consumer="c", message=Unplaced, key=lambda m: m.grant_id, state=STATE)(decide)
    assert (bp.names, bp.triggers) == ([], [])
