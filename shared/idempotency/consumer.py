"""A consumer as data: which messages it takes, where its documents lie, and how it decides.

Documents of one partition (`pk` is the partition key's field, such as `orderId`):

    state      id = partition key value    the consumer's fields, pk, type, docVersion, createdAt, updatedAt, and the
                                           numbers of `progress`
    marker     id = op:{key}               pk, type "operation", docVersion, state "applied", requestHash, attemptId,
                                           payload (the message), appliedAt; more (true) where its commit left
                                           something due. Of one that waits for its turn: state "parked", sequence,
                                           traceparent
    further    id as `related` names it    the consumer's fields, pk, type, docVersion, updatedAt
    outbox     id = out:{outboxSequence}   pk, type "outbox", docVersion, destination, message, traceparent,
                                           status "ready", readySince

A message of the type `created_by` creates the state document, which then is its marker: it bears requestHash and
attemptId itself, and no `op:` document is written. Where messages are numbered, others may come before the one that
makes the state: the state document then has type "expected", their numbers, and none of the consumer's fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, Protocol, TypeAliasType, cast

import msgspec

from shared.idempotency.decisions import Decision
from shared.idempotency.errors import ConfigurationError, NewerVersionError
from shared.idempotency.hashable_fields import check_hashable
from shared.idempotency.messages import Event, Message, State, decode_custom
from shared.idempotency.ports import Document, StoredDocument

DOC_VERSION: Final = 1
EXPECTED: Final = "expected"
"""Type of a state document that holds numbers only: the consumer's state is still to come."""

_ENGINE_FIELDS: Final = frozenset(
    {
        "id",
        "type",
        "docVersion",
        "eventSequence",
        "outboxSequence",
        "requestHash",
        "attemptId",
        "createdAt",
        "updatedAt",
        "ttl",
        "lastSequence",
        "closed",
        "parked",
        "waitingSince",
        "drainSince",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage:
    """A message to be committed with the state change.

    Attributes:
        destination: queue or topic.
        message: `{messageId, sessionId, subject, contentType, body}`.
        size_bytes: of the body on the wire.
    """

    destination: str
    message: Document
    size_bytes: int


class EventWriter(Protocol):
    """Wraps a consumer's events for the outbox. Implementation: `shared.outbox.events`."""

    def write(self, event: Event, *, partition: str, number: int, time: datetime, epoch: int) -> OutboxMessage:
        """Wrap the event that is the `number`th of its partition; the same arguments give the same message."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDocuments[S: State]:
    """Where and how a consumer's state is stored.

    Attributes:
        state: class of the state.
        container: Cosmos container.
        partition_key: the container's partition key path, such as `/orderId`. Messages and states bear the field.
        created_by: the message type that creates the document and is marked by it; None where markers always stand
            beside the state.
    """

    state: type[S]
    container: str
    partition_key: str
    created_by: type[Message] | None = None

    @property
    def partition_field(self) -> str:
        """The partition key's field name."""
        return self.partition_key.removeprefix("/")

    def marks_itself(self, message: Message) -> bool:
        """Whether the message creates the state document and is marked by it."""
        return self.created_by is not None and isinstance(message, self.created_by)

    def read_state(self, stored: StoredDocument) -> S | None:
        """The consumer's state from its document; None where it is still to come.

        Raises:
            NewerVersionError: the document was written by newer code; it must not be written over. Retry.
        """
        return None if stored.body.get("type") == EXPECTED else read_document(stored, self.state)

    def check(self, message: type[Message] | TypeAliasType) -> None:
        """Hold the registration against itself.

        Raises:
            ConfigurationError: names the class, the field and the fix.
        """
        if not _is_subclass(self.state, State):
            raise ConfigurationError(f"state {self.state!r}: must be a subclass of State")
        fields = {field.encode_name for field in msgspec.structs.fields(self.state)}
        if not self.partition_key.startswith("/") or "/" in self.partition_field or not self.partition_field:
            raise ConfigurationError(f"partition_key {self.partition_key!r}: write one path, such as /orderId")
        if self.partition_field not in fields:
            raise ConfigurationError(f"{self.state.__name__}: add the partition key's field {self.partition_field}")
        if taken := sorted(fields & _ENGINE_FIELDS):
            raise ConfigurationError(
                f"{self.state.__name__}: rename {', '.join(taken)}; the engine writes these itself"
            )
        for shape in message_types(message):
            if not _is_subclass(shape, Message):
                raise ConfigurationError(
                    f"message {shape!r}: must be a subclass of Message, or a `type A = B | C` of such classes"
                )
            check_hashable(shape)
            self._check_partition_field(shape)

    def _check_partition_field(self, shape: type[Message]) -> None:
        if self.partition_field not in _attribute_names(shape):
            raise ConfigurationError(f"{shape.__name__}: add the partition key's field {self.partition_field}")
        field = msgspec.structs.fields(shape)[[*_attribute_names(shape)].index(self.partition_field)]
        # Without a value, or with one that other systems spell differently, messages would meet in a wrong partition.
        if not field.required or not _is_subclass(field.type, str):
            raise ConfigurationError(
                f"{shape.__name__}: {self.partition_field} must be an Identifier without a default"
            )


def read_document[D: State](stored: StoredDocument, shape: type[D]) -> D:
    """The consumer's part of a document.

    Raises:
        NewerVersionError: the document was written by newer code; it must not be written over. Retry.
    """
    version = stored.body.get("docVersion")
    if isinstance(version, int) and version > DOC_VERSION:
        raise NewerVersionError(f"document version {version} is newer than {DOC_VERSION}")
    return msgspec.convert(stored.body, shape, dec_hook=decode_custom)


def _is_subclass(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base)


@cache
def _attribute_names(shape: type[Message]) -> dict[str, str]:
    """Attribute by JSON name, in the order of the fields."""
    return {field.encode_name: field.name for field in msgspec.structs.fields(shape)}


def message_types(message: type[Message] | TypeAliasType) -> tuple[type[Message], ...]:
    """The classes of a message shape: itself, or the members of a `type A = B | C`."""
    if isinstance(message, TypeAliasType):
        members: tuple[type[Message], ...] = getattr(message.__value__, "__args__", (message.__value__,))
        return members
    return (message,)


type DecideAlone[M: Message, S: State] = Callable[[S | None, M], Decision[S]]
type DecideWithRelated[M: Message, S: State] = Callable[[S | None, M, Mapping[str, State]], Decision[S]]
type Decide[M: Message, S: State] = DecideAlone[M, S] | DecideWithRelated[M, S]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbering[M: Message]:
    """How the messages of a partition are numbered: 1, 2, 3, ... without a gap, by whoever feeds it.

    Attributes:
        number: gives a message's number.
        closes: whether no message may follow this one.
    """

    number: Callable[[M], int]
    closes: Callable[[M], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer[M: Message, S: State]:
    """A consumer.

    Attributes:
        name: of the consumer, in logs and event sources.
        queue: where its messages come from, and where one is sent back to.
        message: class of its messages, or a union type of such classes.
        key: gives a message's key: what makes two messages the same operation.
        documents: where its state is stored.
        decide: its decision function.
        events: wraps its events.
        numbering: how its messages are numbered; None where they are not.
        related: further documents that a message is decided on, by id with their classes; None where no document
            but the state counts.
    """

    name: str
    queue: str
    message: type[M] | TypeAliasType
    key: Callable[[M], str]
    documents: StateDocuments[S]
    decide: Decide[M, S]
    events: EventWriter
    numbering: Numbering[M] | None = None
    related: Callable[[M], Mapping[str, type[State]]] | None = None

    def decision(self, state: S | None, message: M, related: Mapping[str, State]) -> Decision[S]:
        """What the decision function says."""
        if self.related is None:
            return cast("DecideAlone[M, S]", self.decide)(state, message)
        return cast("DecideWithRelated[M, S]", self.decide)(state, message, related)

    def number_of(self, message: M) -> int:
        """The message's number within its partition; only where messages are numbered."""
        if self.numbering is None:
            raise TypeError(f"the messages of {self.name} are not numbered")
        return self.numbering.number(message)

    def related_of(self, message: M) -> Mapping[str, type[State]]:
        """The further documents that a message is decided on, by id with their classes."""
        return {} if self.related is None else self.related(message)

    def partition_of(self, message: M) -> str:
        """The message's partition key value."""
        return str(getattr(message, _attribute_names(type(message))[self.documents.partition_field]))

    def marker_id(self, message: M) -> str:
        """Id of the document that marks the message."""
        return self.partition_of(message) if self.documents.marks_itself(message) else f"op:{self.key(message)}"


def parked_message[M: Message, S: State](consumer: Consumer[M, S], marker: StoredDocument) -> M:
    """The message that a marker holds until its turn.

    Raises:
        NewerVersionError: it was parked by newer code and cannot be read by this one. Retry.
    """
    try:
        message: M = msgspec.convert(marker.body["payload"], consumer.message, dec_hook=decode_custom)
    except msgspec.ValidationError:
        raise NewerVersionError(f"{marker.body['id']} holds a message that this code does not know") from None
    return message
