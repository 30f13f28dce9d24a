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
from dataclasses import dataclass
from functools import partial
from typing import TypeAliasType

from shared.convoy.engine import ConvoyEngine
from shared.fan_out.bundle import Bundle
from shared.fan_out.engine import FanOutEngine
from shared.idempotency.consumer import Consumer, Decide, Numbering, StateDocuments
from shared.idempotency.engine import Engine
from shared.idempotency.errors import ConfigurationError
from shared.idempotency.messages import Message, State
from shared.idempotency.ports import Delivery
from shared.outbox.events import EventStream
from shared.runtime import Runtime
from shared.triggers import TriggerRegistrar, add_queue_trigger


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

        add_queue_trigger(
            bp,
            queue=queue,
            name=name or str(getattr(decide, "__name__", consumer)),
            consumer=consumer,
            handler=partial(_engine, registered),
        )
        return registered

    return register


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut:
    """A queue whose messages hold messages for another queue.

    Attributes:
        queue: where they come from.
        container: where their documents lie.
        destination: the queue that takes what they hold.
        read: reads a delivery; gets the largest body that the destination's consumer takes, in bytes.
    """

    queue: str
    container: str
    destination: str
    read: Callable[[Delivery, int], Bundle]


def fan_out(bp: TriggerRegistrar, registered: FanOut, *, name: str) -> FanOut:
    """Register a function that sends on what the messages of a queue hold; returns what was registered.

    Args:
        bp: the blueprint.
        registered: what it does.
        name: of the function, in logs too.
    """
    add_queue_trigger(
        bp, queue=registered.queue, name=name, consumer=name, handler=partial(_fan_out_engine, registered)
    )
    return registered


def _fan_out_engine(registered: FanOut, clients: Runtime) -> FanOutEngine:
    return FanOutEngine(
        read=lambda delivery: registered.read(delivery, clients.settings.body_bytes_max),
        store=clients.store(registered.container),
        destination=clients.sender(registered.destination),
        clock=clients.clock,
        random=clients.random,
        limits=clients.settings.limits,
    )
