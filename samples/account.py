"""The account of a demo: what was sent, what became of it, and whether the two fit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

DUPLICATE: Final = "duplicate"
APPLIED: Final = "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Counts. Each is read back from where it can be seen, none is taken from what was intended."""

    sent: int
    documents: int
    events: int
    other_documents: int
    placed: int
    duplicates: int
    other_completions: int
    dropped: int
    dead_letters: Mapping[str, int]
    left: int


LABELS: Final[Mapping[str, str]] = {
    "sent": "sent                  accepted by the broker",
    "placed": "placed                completed as applied, says the app's log",
    "duplicates": "duplicates            completed as duplicates, says the app's log",
    "other_completions": "other completions     says the app's log",
    "dead_letters": "dead-lettered         peeked in the dead-letter queue",
    "left": "left in the queue     peeked session by session",
    "dropped": "dropped               sent, less all of the above: a broker drops without a word",
    "documents": "order documents       read from the store, with the producer's own request hash",
    "events": "outbox events         read from the store",
    "other_documents": "other documents       read from the store",
}


def take_account(
    *,
    sent: int,
    outcomes: Sequence[str],
    dead_letter_reasons: Sequence[str],
    left: int,
    documents: int,
    events: int,
    other_documents: int,
) -> Account:
    """Count.

    Args:
        sent: messages that the broker accepted.
        outcomes: of each completed message, by the app's log.
        dead_letter_reasons: of each message in the dead-letter queue.
        left: messages in the queue.
        documents: orders in the store.
        events: outbox events in the store.
        other_documents: anything else in the orders' partitions.
    """
    placed = sum(outcome == APPLIED for outcome in outcomes)
    duplicates = sum(outcome == DUPLICATE for outcome in outcomes)
    return Account(
        sent=sent,
        placed=placed,
        duplicates=duplicates,
        other_completions=len(outcomes) - placed - duplicates,
        dead_letters=Counter(dead_letter_reasons),
        left=left,
        dropped=sent - len(outcomes) - len(dead_letter_reasons) - left,
        documents=documents,
        events=events,
        other_documents=other_documents,
    )


def table(account: Account) -> list[str]:
    """Return the account as lines of text."""
    lines = []
    for name, label in LABELS.items():
        value = getattr(account, name)
        if isinstance(value, Mapping):
            reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(value.items()))
            lines.append(f"{sum(value.values()):6}  {label}{': ' if reasons else ''}{reasons}")
        else:
            lines.append(f"{value:6}  {label}")
    return lines


def differences(expected: Account, found: Account) -> list[str]:
    """Return one line per number that is off."""
    return [
        f"{field.name}: expected {_plain(getattr(expected, field.name))}, found {_plain(getattr(found, field.name))}"
        for field in fields(Account)
        if getattr(expected, field.name) != getattr(found, field.name)
    ]


def _plain(value: int | Mapping[str, int]) -> str:
    return str(dict(value) if isinstance(value, Mapping) else value)
