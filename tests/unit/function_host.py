"""A Functions host, its worker and the broker as a registered function knows them: what returns is completed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from azure.servicebus.amqp import AmqpMessageBodyType

from shared import consumers, triggers
from shared.idempotency.backoff import Limits
from shared.idempotency.consumer import Consumer
from shared.idempotency.disposition import Complete, DeadLetter
from shared.idempotency.ports import Clock, Delivery, Random, Store
from shared.idempotency.time_limited_store import TimeLimitedStore
from shared.servicebus.settlement import SettlementError
from shared.testing.crash_points import CrashingClock, CrashingStore, CrashPoints, Fault, Point
from shared.testing.deliveries import delivery_of
from shared.testing.invariants import InvariantError, Settled, check_settlement
from shared.testing.manual_clock import ManualClock, SequenceRandom
from shared.testing.memory_store import MemoryStore
from shared.triggers import DeliverAgainError
from tests.unit.example_consumers import LOYALTY, Points, PointsGranted

FUNCTION_TIMEOUT_SECONDS: Final = 300.0
COMPLETION_FAULTS: Final = (Fault.FAILS, Fault.ANSWER_LOST)
DEAD_LETTER_FAULTS: Final = (
    Fault.FAILS,
    Fault.HANGS,
    Fault.CANCELLED,
    Fault.ANSWER_LOST,
    Fault.APPLIED_AND_HANGS,
    Fault.APPLIED_AND_CANCELLED,
)

type Function = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class ReceivedMessage:
    """What is read of the SDK's received message."""

    delivery: Delivery
    lock_token: str = "token"  # noqa: S105 - no secret
    body_type: AmqpMessageBodyType = AmqpMessageBodyType.DATA
    application_properties: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def message_id(self) -> str:
        return self.delivery.message_id

    @property
    def session_id(self) -> str | None:
        return self.delivery.session_id

    @property
    def sequence_number(self) -> int:
        return self.delivery.sequence_number

    @property
    def delivery_count(self) -> int:
        return self.delivery.delivery_count

    @property
    def body(self) -> list[bytes]:
        return [self.delivery.body or b""]


@dataclass
class Settings:
    """The settings that a delivery reads."""

    # One fault is tried again, two use the delivery up.
    limits: Limits = field(default_factory=lambda: Limits(tries_max=2))
    body_bytes_max: int = 131_072
    event_epoch: int = 1


class FunctionHost:
    """Delivers to a registered function, and is its runtime.

    Attributes:
        documents: what the function stored.
        points: the crash points of store, clock, dead-letter call and completion.
        gave_up: how often the function asked for another delivery.
    """

    def __init__(self, function: Function, points: Sequence[Point]) -> None:
        self.documents = MemoryStore("/customerId")
        self.points = CrashPoints(points)
        self.crashing = CrashingStore(self.documents, self.points)
        self.clock: Clock = CrashingClock(ManualClock(), self.points)
        self.random: Random = SequenceRandom()
        self.settings = Settings()
        self.gave_up = 0
        self._function = function
        self._dead_letter: DeadLetter | None = None

    @property
    def settlement(self) -> "FunctionHost":
        return self

    def store(self, container: str) -> Store:
        assert container == "loyalty"
        return TimeLimitedStore(self.crashing, call_seconds=Limits().store_call_seconds)

    async def dead_letter(self, lock_token: str, *, reason: str, description: str) -> None:
        """The adapter's promise: it raises unless the broker confirmed."""
        assert lock_token == "token"  # noqa: S105 - no secret
        fault = self.points.next(f"dead-letter as {reason}", DEAD_LETTER_FAULTS)
        if fault in {Fault.FAILS, Fault.HANGS, Fault.CANCELLED}:
            await self._go_wrong(fault)
        self._dead_letter = DeadLetter(reason, description)
        await self._go_wrong(fault)

    async def settle(self, message: PointsGranted, *, deliveries_max: int) -> Settled:
        """Deliver until the broker has the message no more."""
        for count in range(1, deliveries_max + 1):
            delivery = delivery_of(LOYALTY, message, delivery_count=count)
            returned = await self._invoke(ReceivedMessage(delivery))
            if self._dead_letter is not None:
                found, self._dead_letter = self._dead_letter, None
                self._check(message, found)
                return found
            if returned:
                self._check(message, Complete("applied"))
                if self.points.next(f"completion of {delivery.message_id}", COMPLETION_FAULTS) is not Fault.FAILS:
                    return Complete("applied")
        raise InvariantError(f"{message.grant_id}: still in the queue after {deliveries_max} deliveries")

    async def _invoke(self, message: ReceivedMessage) -> bool:
        """Whether the function returned. One that raised, died or took too long did not."""
        task = asyncio.ensure_future(self._function(message))
        done, _ = await asyncio.wait({task}, timeout=FUNCTION_TIMEOUT_SECONDS)
        if not done:
            task.cancel()
            await asyncio.wait({task})
            return False
        if task.cancelled():
            return False
        error = task.exception()
        self.gave_up += isinstance(error, DeliverAgainError)
        return error is None

    async def _go_wrong(self, fault: Fault | None) -> None:
        match fault:
            case None:
                pass
            case Fault.FAILS | Fault.ANSWER_LOST:
                raise SettlementError(f"dead-letter: {fault}")
            case Fault.HANGS | Fault.APPLIED_AND_HANGS:
                await asyncio.Event().wait()
            case _:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)

    def _check(self, message: PointsGranted, settled: Settled) -> None:
        marker = self.documents.document(LOYALTY.partition_of(message), LOYALTY.marker_id(message))
        check_settlement(LOYALTY, message, settled, marker)


class Blueprint:
    """Keeps the function that is registered."""

    def __init__(self) -> None:
        self.function: Function | None = None

    def function_name(self, name: str) -> Callable[..., object]:
        return lambda function: function

    def service_bus_queue_trigger(self, **_: object) -> Callable[..., object]:
        def keep(function: Function) -> Function:
            self.function = function
            return function

        return keep


def registered(
    monkeypatch: pytest.MonkeyPatch, consumer: Consumer[PointsGranted, Points]
) -> Callable[..., FunctionHost]:
    """Register a consumer's decision function; returns what makes a host of it that meets the points given."""
    blueprint = Blueprint()
    register = consumers.operations(
        blueprint,  # type: ignore[arg-type]
        queue="points", consumer=consumer.name, message=PointsGranted, key=consumer.key, state=consumer.documents,
    )  # fmt: skip
    register(consumer.decide)
    function = blueprint.function
    assert function is not None

    def host(points: Sequence[Point] = ()) -> FunctionHost:
        made = FunctionHost(function, points)
        monkeypatch.setattr(triggers, "runtime", lambda: made)
        return made

    return host
