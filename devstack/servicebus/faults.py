"""Faults that a test asks for: those that happen at once, and those that wait for a send or a settlement.

{"fault": {"type": "expiredLock", "queue": "orders", "sessionId": "A1"}}
{"fault": {"type": "lostEcho", "applied": true}, "times": 2}
{"fault": {"type": "serverBusy"}, "times": null, "seconds": 2}
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from devstack.control import FaultError


class ExpiredLock(msgspec.Struct, frozen=True, tag="expiredLock", rename="camel", forbid_unknown_fields=True):
    """At once: the lock of a session runs out; a failed delivery for what is held under it."""

    queue: str
    session_id: str


class DroppedConnections(
    msgspec.Struct, frozen=True, tag="droppedConnections", rename="camel", forbid_unknown_fields=True
):
    """At once: every connection ends without a word, or only the one that holds a session of this id."""

    session_id: str | None = None


class ServerBusy(msgspec.Struct, frozen=True, tag="serverBusy", forbid_unknown_fields=True):
    """A send is refused for now."""


class LostAcceptance(msgspec.Struct, frozen=True, tag="lostAcceptance", forbid_unknown_fields=True):
    """A send is never answered; `applied`: the messages are in the queue all the same."""

    applied: bool = True


class LostEcho(msgspec.Struct, frozen=True, tag="lostEcho", forbid_unknown_fields=True):
    """A settlement is never answered; `applied`: it takes effect all the same."""

    applied: bool = True


class ForgottenSettlement(msgspec.Struct, frozen=True, tag="forgottenSettlement", forbid_unknown_fields=True):
    """A settlement is answered as done, and the message is delivered again."""


type Act = ExpiredLock | DroppedConnections
type SendFault = ServerBusy | LostAcceptance
type SettlementFault = LostEcho | ForgottenSettlement


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fault, and for how long it waits.

    Attributes:
        fault: what happens.
        times: how often; None for no end.
        seconds: from when it was asked for; None for no end.
    """

    fault: Act | SendFault | SettlementFault
    times: int | None = 1
    seconds: float | None = None


@dataclass(slots=True)
class _Waiting:
    rule: Rule
    until: float
    met: int = 0

    def is_due(self, now: float) -> bool:
        return now < self.until and (self.rule.times is None or self.met < self.rule.times)


class FaultBook:
    """The faults that are waiting, in the order in which they were asked for.

    Args:
        act: does what happens at once; raises `FaultError` where it cannot.
        clock: monotonic seconds.
    """

    def __init__(self, act: Callable[[Act], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._act = act
        self._clock = clock
        self._waiting: list[_Waiting] = []

    def add(self, rule: bytes) -> None:
        """Take a rule, as JSON; one that happens at once has happened on return.

        Raises:
            FaultError: it is not one, or it cannot happen; the text names the field or the reason.
        """
        try:
            read = msgspec.json.decode(rule, type=Rule)
        except msgspec.DecodeError as error:
            raise FaultError(str(error)) from error
        if isinstance(read.fault, ExpiredLock | DroppedConnections):
            self._act(read.fault)
            return
        now = self._clock()
        until = float("inf") if read.seconds is None else now + read.seconds
        # What is used up stays for the report until the next is asked for.
        self._waiting = [waiting for waiting in self._waiting if waiting.is_due(now)]
        self._waiting.append(_Waiting(read, until))

    def clear(self) -> None:
        """Forget all that are waiting."""
        self._waiting.clear()

    def report(self) -> list[dict[str, object]]:
        """Each that waits or came true last, with how often it has happened."""
        return [{"rule": msgspec.to_builtins(waiting.rule), "met": waiting.met} for waiting in self._waiting]

    def of_send(self) -> SendFault | None:
        """The fault that a send meets now."""
        for waiting in self._waiting:
            fault = waiting.rule.fault
            if isinstance(fault, ServerBusy | LostAcceptance) and waiting.is_due(self._clock()):
                waiting.met += 1
                return fault
        return None

    def of_settlement(self) -> SettlementFault | None:
        """The fault that a settlement meets now."""
        for waiting in self._waiting:
            fault = waiting.rule.fault
            if isinstance(fault, LostEcho | ForgottenSettlement) and waiting.is_due(self._clock()):
                waiting.met += 1
                return fault
        return None
