"""Identifiers and the grammar of MessageId: `key ~ h [~ suffix]`.

The broker's duplicate detection compares MessageId only. With the hash prefix `h` inside, an identical resend is
dropped there, while a changed one has another MessageId, reaches the engine, and is dead-lettered.
"""

import re
from dataclasses import dataclass
from typing import Final

from shared.idempotency.errors import DeadLetterReason, PermanentError

IDENTIFIER_RULE: Final = "1 to 100 characters of A-Z a-z 0-9 . _ -, the first a letter or digit"
HASH_PREFIX_LENGTH: Final = 16

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HASH_PREFIX: Final = re.compile(rf"[0-9a-f]{{{HASH_PREFIX_LENGTH}}}")


def is_identifier(text: str) -> bool:
    """Whether `text` may be a key or a session id: what Service Bus, Cosmos DB and URLs all carry unchanged."""
    return _IDENTIFIER.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class MessageKey:
    """What a MessageId says.

    Attributes:
        key: what stands before the first `~`.
        hash_prefix: the 16 hex digits after it; None where a foreign sender uses bare keys, which gives up
            mismatch detection inside the broker's duplicate window.
    """

    key: str
    hash_prefix: str | None


def parse_message_id(message_id: str) -> MessageKey:
    """Split a MessageId. Every text is accepted; `check_message_id` compares it with the body."""
    key, _, rest = message_id.partition("~")
    candidate = rest.partition("~")[0]
    return MessageKey(key, candidate if _HASH_PREFIX.fullmatch(candidate) else None)


def message_id_of(key: str, request_hash: str) -> str:
    """The MessageId under which a producer sends the message with this key and request hash (`v1:<hex>`)."""
    return f"{key}~{hash_prefix(request_hash)}"


def hash_prefix(request_hash: str) -> str:
    """The 16 hex digits that stand for a request hash in MessageIds and logs."""
    return request_hash.partition(":")[2][:HASH_PREFIX_LENGTH]


def check_identifier(name: str, value: str) -> None:
    """Refuse what is not an identifier.

    Raises:
        PermanentError: `InvalidIdentifier`, naming the field.
    """
    if not is_identifier(value):
        raise PermanentError(DeadLetterReason.INVALID_IDENTIFIER, f"{name}: must be {IDENTIFIER_RULE}")


def check_message_id(message_id: str, *, key: str, request_hash: str) -> None:
    """Hold the MessageId against the body it came with.

    Raises:
        PermanentError: `MessageIdMismatch`, where the key or a well-formed hash prefix is not the body's.
    """
    said = parse_message_id(message_id)
    if said.key != key:
        raise PermanentError(
            DeadLetterReason.MESSAGE_ID_MISMATCH,
            "MessageId: what stands before the first ~ must be the body's key",
        )
    if said.hash_prefix is not None and said.hash_prefix != hash_prefix(request_hash):
        raise PermanentError(
            DeadLetterReason.MESSAGE_ID_MISMATCH,
            "MessageId: the 16 hex digits after ~ must be the body's request hash",
        )


def check_session_id(session_id: str | None, *, partition: str) -> None:
    """Hold the SessionId against the partition: the session is what keeps one order's messages in sequence.

    Raises:
        PermanentError: `SessionIdMismatch`.
    """
    if session_id != partition:
        raise PermanentError(DeadLetterReason.SESSION_ID_MISMATCH, "SessionId: must be the body's partition key value")
