"""The fault of the host that a test asks for: slots that die with their connection.

    {"fault": {"type": "deadSlots"}}

At once: the connection ends, and every slot whose function is running takes no session any more until the host is
started again, while all else looks healthy. Source: measured on Azure Functions host 4.1037; it is how the real
listener meets a lost connection.
"""

from collections.abc import Sequence

import msgspec

from devstack.control import FaultError
from devstack.functions.sessions.listener import SessionListener


class DeadSlots(msgspec.Struct, frozen=True, tag="deadSlots", tag_field="type", forbid_unknown_fields=True):
    """The slots that are busy die with their connection."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a test asks for."""

    fault: DeadSlots


class HostFaults:
    """Lets the fault happen; none waits."""

    def __init__(self, listeners: Sequence[SessionListener]) -> None:
        self._listeners = listeners
        self._dead = 0

    def add(self, rule: bytes) -> None:
        """Let it happen.

        Raises:
            FaultError: it is no fault; the text names the field.
        """
        try:
            msgspec.json.decode(rule, type=Rule)
        except msgspec.DecodeError as error:
            raise FaultError(str(error)) from error
        for listener in self._listeners:
            self._dead += listener.lose_busy_slots()

    def clear(self) -> None:
        """Nothing waits, and only a new host brings a slot back."""

    def report(self) -> list[dict[str, object]]:
        """How many slots have died."""
        return [{"deadSlots": self._dead}]
