"""The app's disposition log: one line per delivery says what became of it.

    ... disposition=complete outcome=duplicate ... message_id=A1~0123456789abcdef ... sequence_number=7 ...

Other text may stand before it on the line. Broker and store show what is left; this log shows completions.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MARK: Final = "disposition="
POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Disposition:
    """What became of one delivery."""

    disposition: str
    outcome: str
    message_id: str
    sequence_number: int

    @property
    def is_final(self) -> bool:
        """Whether the message has left the queue: a retry has not."""
        return self.disposition != "retry"


def parse_dispositions(log: str) -> list[Disposition]:
    """Return the dispositions of a log in its order; a last line without its end is still being written."""
    whole_lines = log[: log.rfind("\n") + 1].splitlines()
    return [_parse(line[line.index(MARK) :]) for line in whole_lines if MARK in line]


def completions(dispositions: Iterable[Disposition]) -> dict[int, Disposition]:
    """Return sequence number -> first completion of each completed message.

    A message may show twice: if its settlement is lost after the commit, it is delivered again, and is then a
    duplicate of itself. The first line tells what it did.
    """
    first: dict[int, Disposition] = {}
    for entry in dispositions:
        if entry.disposition == "complete":
            first.setdefault(entry.sequence_number, entry)
    return first


async def await_final(
    log: Path, message_ids: Collection[str], *, seconds: float, clock: Callable[[], float]
) -> frozenset[str]:
    """Wait until each MessageId has a final disposition; return those that have none when the time is up.

    Args:
        log: the Functions host's log.
        message_ids: what was sent.
        seconds: how long to wait at most.
        clock: monotonic seconds.
    """
    deadline = clock() + seconds
    while True:
        seen = {entry.message_id for entry in read_dispositions(log) if entry.is_final}
        unsettled = frozenset(message_ids) - seen
        if not unsettled or clock() >= deadline:
            return unsettled
        await asyncio.sleep(POLL_SECONDS)


def read_dispositions(log: Path) -> list[Disposition]:
    """Read the log as it is now.

    Raises:
        OSError: there is no such log.
    """
    return parse_dispositions(log.read_text(encoding="utf-8", errors="replace"))


def _parse(text: str) -> Disposition:
    fields = dict(word.split("=", 1) for word in text.split() if "=" in word)
    return Disposition(
        disposition=fields["disposition"],
        outcome=fields["outcome"],
        message_id=fields["message_id"],
        sequence_number=int(fields["sequence_number"]),
    )
