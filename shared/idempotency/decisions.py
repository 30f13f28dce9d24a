"""What a consumer's decision function answers: data, not effects.

A decision function is pure and synchronous: no clock, no id, no I/O. It may run several times for one message.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.idempotency.messages import Event, State

_CODE: Final = re.compile("[A-Z][A-Za-z0-9]{0,63}")


@dataclass(frozen=True, slots=True)
class Apply[S: State]:
    """Write this state, and with it these events; both or neither.

    Attributes:
        state: the whole new state document.
        events: integration events, in the order in which they are to be sent.
        creates: further documents of the partition by id. One that exists already comes back in `related`, and the
            message is decided again.
        replaces: further documents by id; each must be among those that `related` held.
    """

    state: S
    events: Sequence[Event] = ()
    creates: Mapping[str, State] = field(default_factory=dict)
    replaces: Mapping[str, State] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Take the message in without any effect. Its marker is kept, so that a changed resend is still noticed.

    Attributes:
        reason: one word for the log.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Reject:
    """The message cannot be applied, now or later: dead-letter it. Nothing is written.

    Attributes:
        code: the dead-letter reason, PascalCase, up to 64 letters and digits.
        detail: names the field and the rule; never a body.
    """

    code: str
    detail: str

    def __post_init__(self) -> None:
        """Refuse a code that alerts and runbooks could not name."""
        if _CODE.fullmatch(self.code) is None:
            raise ValueError("code: must be PascalCase, up to 64 letters and digits")


type Decision[S: State] = Apply[S] | Ignore | Reject
