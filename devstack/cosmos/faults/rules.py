"""A fault as data, and the book of those that are waiting.

{"fault": {"type": "reset", "applied": true}, "on": "batch", "partition": "A1", "times": 2}
{"fault": {"type": "answer", "status": 429, "retryAfterMs": 50}, "on": "write", "seconds": 2}
{"fault": {"type": "answer", "status": 404}, "on": "read", "after": "write", "times": 3}
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from devstack.control import FaultError

type Kind = Literal["read", "query", "create", "upsert", "replace", "patch", "delete", "batch", "metadata"]
type Target = Kind | Literal["write", "item", "any"]

_WRITES = {"create", "upsert", "replace", "patch", "delete", "batch"}


class Answer(msgspec.Struct, frozen=True, tag="answer", rename="camel", forbid_unknown_fields=True):
    """Answer with a status of one's own.

    Attributes:
        status: of the answer; of one operation's result where `operation` is given, and the answer is 207.
        sub_status: `x-ms-substatus`.
        retry_after_ms: `x-ms-retry-after-ms`.
        applied: whether the request takes effect all the same.
        operation: index of the batch's operation that is blamed; the others get 424.
    """

    status: int
    sub_status: int = 0
    retry_after_ms: int | None = None
    applied: bool = False
    operation: int | None = None


class Reset(msgspec.Struct, frozen=True, tag="reset", forbid_unknown_fields=True):
    """Reset the connection; `applied`: after the request took effect."""

    applied: bool = False


class Hang(msgspec.Struct, frozen=True, tag="hang", forbid_unknown_fields=True):
    """Never answer; `applied`: the request takes effect."""

    applied: bool = False


type Fault = Answer | Reset | Hang


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which requests meet a fault.

    Attributes:
        fault: what becomes of them.
        on: their kind; `write` is every kind that writes, `item` every kind but metadata.
        partition: value of their partition key; None for any.
        times: how many meet it; None for no end.
        seconds: from when it was asked for; None for no end.
        after: it waits until a request of this kind (in that partition) took effect.
    """

    fault: Fault
    on: Target = "item"
    partition: str | None = None
    times: int | None = 1
    seconds: float | None = None
    after: Target | None = None


@dataclass(slots=True)
class _Waiting:
    rule: Rule
    until: float
    armed: bool
    met: int = 0

    def is_left(self, now: float) -> bool:
        return now < self.until and (self.rule.times is None or self.met < self.rule.times)

    def meets(self, kind: Kind, partition: str | None, now: float) -> bool:
        rule = self.rule
        is_due = self.armed and self.is_left(now)
        return is_due and _is_of(kind, rule.on) and rule.partition in {None, partition}


class FaultBook:
    """The faults that are waiting, in the order in which they were asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: list[_Waiting] = []

    def add(self, rule: bytes) -> None:
        """Take a rule, as JSON.

        Raises:
            FaultError: it is not one; the text names the field.
        """
        try:
            read = msgspec.json.decode(rule, type=Rule)
        except msgspec.DecodeError as error:
            raise FaultError(str(error)) from error
        now = self._clock()
        until = float("inf") if read.seconds is None else now + read.seconds
        # What is used up stays for the report until the next is asked for.
        self._waiting = [waiting for waiting in self._waiting if waiting.is_left(now)]
        self._waiting.append(_Waiting(read, until, armed=read.after is None))

    def clear(self) -> None:
        """Forget all rules."""
        self._waiting.clear()

    def report(self) -> list[dict[str, object]]:
        """Each rule that waits or came true last, with how many requests have met it."""
        return [{"rule": msgspec.to_builtins(waiting.rule), "met": waiting.met} for waiting in self._waiting]

    def take(self, kind: Kind, partition: str | None) -> Fault | None:
        """The fault that this request meets: the first that is due."""
        now = self._clock()
        for waiting in self._waiting:
            if waiting.meets(kind, partition, now):
                waiting.met += 1
                return waiting.rule.fault
        return None

    def took_effect(self, kind: Kind, partition: str | None) -> None:
        """Arm the rules that wait for such a request."""
        for waiting in self._waiting:
            after, of = waiting.rule.after, waiting.rule.partition
            if after is not None and _is_of(kind, after) and of in {None, partition}:
                waiting.armed = True


def _is_of(kind: Kind, target: Target) -> bool:
    match target:
        case "any":
            return True
        case "item":
            return kind != "metadata"
        case "write":
            return kind in _WRITES
        case _:
            return kind == target
