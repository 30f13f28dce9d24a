"""A function on a session-enabled queue: what it returns or raises is what becomes of the message.

It returns when the message is done (the host completes it), dead-letters what cannot be applied, and raises for another
delivery.
"""

from collections.abc import Callable
from typing import Protocol, assert_never

from azure.servicebus import ServiceBusReceivedMessage

from shared.idempotency.backoff import Limits, wait_before_try
from shared.idempotency.disposition import Complete, DeadLetter, Handled, Retry
from shared.idempotency.errors import ConfigurationError, TransientError
from shared.idempotency.ports import Delivery
from shared.runtime import Runtime, SystemClock, runtime
from shared.servicebus.binding import SessionMessage
from shared.servicebus.envelope import delivery_of
from shared.settings import SERVICE_BUS
from shared.telemetry import log_disposition


class TriggerRegistrar(Protocol):
    """What is used of `azure.functions.Blueprint`."""

    def function_name(self, name: str) -> Callable[..., object]:
        """Name the function."""
        ...

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
        """Bind the function to a queue."""
        ...


class Handler(Protocol):
    """What takes a delivery to its disposition."""

    async def handle(self, delivery: Delivery) -> Handled:
        """Take one delivery to its disposition."""
        ...


class DeliverAgainError(TransientError):
    """Raised out of a function so that the host abandons the message and the broker delivers it again."""


def add_queue_trigger(
    bp: TriggerRegistrar, *, queue: str, name: str, consumer: str, handler: Callable[[Runtime], Handler]
) -> None:
    """Register a function.

    Args:
        bp: the blueprint.
        queue: its queue: sessions and duplicate detection on.
        name: of the function.
        consumer: what the log calls it.
        handler: makes, with the running loop's clients, what handles a delivery.
    """

    # The annotation makes the host hand over the raw message, and binding.py decode it.
    async def process(message: SessionMessage) -> None:
        await deliver(consumer, handler, message)

    process.__name__ = name
    trigger = bp.service_bus_queue_trigger(
        arg_name="message",
        connection=SERVICE_BUS,
        queue_name=queue,
        is_sessions_enabled=True,
        # MANY would run one session per instance, and renew no lock.
        cardinality="one",
        # The host completes on return and abandons on raise; host.json's value is ignored.
        auto_complete_messages=True,
    )
    bp.function_name(name)(trigger(process))


async def deliver(consumer: str, handler: Callable[[Runtime], Handler], message: ServiceBusReceivedMessage) -> None:
    """Handle a received message, and settle it: return, dead-letter or raise.

    Raises:
        DeliverAgainError: it is not done; the host abandons it.
        ConfigurationError: the app cannot run as it is set up; likewise.
        SettlementError: whether it was dead-lettered is not known; likewise.
    """
    delivery = delivery_of(message)
    try:
        clients = runtime()
    except ConfigurationError:
        # An operator's mistake is not the message's fault: without a wait, its deliveries would be used up at once.
        await SystemClock().sleep(wait_before_try(delivery.delivery_count, limits=Limits(), fraction=0.0))
        raise
    handled = await handler(clients).handle(delivery)
    match handled.disposition:
        case Complete():
            log_disposition(consumer, delivery, handled)
        case DeadLetter(reason, description):
            if message.lock_token is None:
                raise ConfigurationError("the message has no lock token: the host did not hand over an SDK type")
            # Any failure raises: a normal return would complete the message.
            await clients.settlement.dead_letter(message.lock_token, reason=reason, description=description)
            log_disposition(consumer, delivery, handled)
        case Retry(cause):
            log_disposition(consumer, delivery, handled)
            raise DeliverAgainError(f"deliver again: {cause}")
        case _:
            assert_never(handled.disposition)
