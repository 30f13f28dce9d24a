"""Registering a consumer: trigger and engine in one decorator.

    add_granted_points = operations(
        bp, queue="points", consumer="loyalty", message=PointsGranted, key=lambda grant: grant.grant_id,
        state=documents(Points, container="loyalty", partition_key="/customerId"),
    )(add_points)

registers the function `add_points` on the blueprint: a Service Bus session trigger that runs the engine. The function
returns when the message is done (the host completes it), dead-letters what cannot be applied, and raises for another
delivery.

Read next: `idempotency.engine`, docs/build-a-consumer.md.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAliasType, assert_never

from azure.servicebus import ServiceBusReceivedMessage

from shared.convoy.engine import ConvoyEngine
from shared.idempotency.backoff import Limits, wait_before_try
from shared.idempotency.consumer import Consumer, Decide, Numbering, StateDocuments
from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.engine import Engine
from shared.idempotency.errors import ConfigurationError, TransientError
from shared.idempotency.messages import Message, State
from shared.outbox.events import EventStream
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


class DeliverAgainError(TransientError):
    """Raised out of a function so that the host abandons the message and the broker delivers it again."""


def documents[S: State](
    state: type[S], *, container: str, partition_key: str, created_by: type[Message] | None = None
) -> StateDocuments[S]:
    """Say where a consumer's state is stored.

    Args:
        state: class of the state.
        container: Cosmos container; its documents are written by this consumer alone.
        partition_key: the container's partition key path, such as `/customerId`. Message and state bear the field;
            its value is the id of the state document, and must be the message's SessionId.
        created_by: the message type that creates the state and is marked by it. Without it, each message's marker
            is a document of its own.
    """
    return StateDocuments(state=state, container=container, partition_key=partition_key, created_by=created_by)


def operations[M: Message, S: State](
    bp: TriggerRegistrar,
    *,
    queue: str,
    consumer: str,
    message: type[M] | TypeAliasType,
    key: Callable[[M], str],
    state: StateDocuments[S],
    sequence: Callable[[M], int] | None = None,
    closes: Callable[[M], bool] | None = None,
    related: Callable[[M], Mapping[str, type[State]]] | None = None,
    name: str | None = None,
    events_topic: str | None = None,
) -> Callable[[Decide[M, S]], Consumer[M, S]]:
    """Register a consumer of a session-enabled queue.

    Args:
        bp: the blueprint.
        queue: name of the queue: sessions and duplicate detection on.
        consumer: its name, in logs and as the events' source `/{consumer}/{epoch}`.
        message: class of its messages, or a `type` union of such classes.
        key: gives a message's key, by which it is taken in once.
        state: where its state is stored; see `documents`.
        sequence: gives a message's number within its partition: 1, 2, 3, ... by whoever feeds it. Messages then apply
            in exactly this order; one that comes early is kept until its turn. Without it, they apply as they come.
        closes: whether no message may follow this one; only with `sequence`.
        related: gives, by id, the further documents that a message is decided on, with their classes; the decision
            function gets those that exist as its third argument.
        name: of the function; by default the decision function's own.
        events_topic: where its events go; by default `{consumer}-events`.

    Returns:
        A decorator of the decision function `decide(state or None, message[, related]) -> Apply | Ignore | Reject`,
        which is pure and synchronous. It returns the consumer as data, for `assert_effectively_once`.

    Raises:
        ConfigurationError: message and state do not fit together; names the class, the field and the fix. Raised at
            import, so that a wrong registration is seen before anything is taken.
    """
    state.check(message)
    if closes is not None and sequence is None:
        raise ConfigurationError("closes: give sequence too; without numbers nothing can be the last")

    def register(decide: Decide[M, S]) -> Consumer[M, S]:
        registered = Consumer(
            name=consumer,
            queue=queue,
            message=message,
            key=key,
            documents=state,
            decide=decide,
            events=EventStream(destination=events_topic or f"{consumer}-events", source=f"/{consumer}"),
            numbering=None if sequence is None else Numbering(number=sequence, closes=closes or (lambda _: False)),
            related=related,
        )

        _add_trigger(bp, registered, name or str(getattr(decide, "__name__", consumer)))
        return registered

    return register


def _add_trigger[M: Message, S: State](bp: TriggerRegistrar, consumer: Consumer[M, S], name: str) -> None:
    # The annotation makes the host hand over the raw message, and binding.py decode it.
    async def process(message: SessionMessage) -> None:
        await _deliver(consumer, message)

    process.__name__ = name
    trigger = bp.service_bus_queue_trigger(
        arg_name="message",
        connection=SERVICE_BUS,
        queue_name=consumer.queue,
        is_sessions_enabled=True,
        # MANY would run one session per instance, and renew no lock.
        cardinality="one",
        # The host completes on return and abandons on raise; host.json's value is ignored.
        auto_complete_messages=True,
    )
    bp.function_name(name)(trigger(process))


async def _deliver[M: Message, S: State](consumer: Consumer[M, S], message: ServiceBusReceivedMessage) -> None:
    delivery = delivery_of(message)
    try:
        clients = runtime()
    except ConfigurationError:
        # An operator's mistake is not the message's fault: without a wait, its deliveries would be used up at once.
        await SystemClock().sleep(wait_before_try(delivery.delivery_count, limits=Limits(), fraction=0.0))
        raise
    handled = await _engine(consumer, clients).handle(delivery)
    match handled.disposition:
        case Complete():
            log_disposition(consumer.name, delivery, handled)
        case DeadLetter(reason, description):
            if message.lock_token is None:
                raise ConfigurationError("the message has no lock token: the host did not hand over an SDK type")
            # Any failure raises: a normal return would complete the message.
            await clients.settlement.dead_letter(message.lock_token, reason=reason, description=description)
            log_disposition(consumer.name, delivery, handled)
        case Retry(cause):
            log_disposition(consumer.name, delivery, handled)
            raise DeliverAgainError(f"deliver again: {cause}")
        case _:
            assert_never(handled.disposition)


def _engine[M: Message, S: State](consumer: Consumer[M, S], clients: Runtime) -> Engine[M, S]:
    if consumer.numbering is not None:
        return convoy_engine(consumer, clients)
    return _plain_engine(consumer, clients)


def convoy_engine[M: Message, S: State](consumer: Consumer[M, S], clients: Runtime) -> ConvoyEngine[M, S]:
    """The engine of a consumer whose messages are numbered; also for what is done without a delivery."""
    return ConvoyEngine.beside(_plain_engine(consumer, clients), cache=clients.cache(consumer.documents.container))


def _plain_engine[M: Message, S: State](consumer: Consumer[M, S], clients: Runtime) -> Engine[M, S]:
    return Engine(
        consumer=consumer,
        store=clients.store(consumer.documents.container),
        clock=clients.clock,
        random=clients.random,
        limits=clients.settings.limits,
        body_bytes_max=clients.settings.body_bytes_max,
        event_epoch=clients.settings.event_epoch,
    )
