"""Links: one direction of messages inside a session, and their attach and detach.

Credit is absolute: a receiver says up to which delivery-count its sender may go, so that a flow that crosses
transfers on the wire takes nothing away twice. Read next: `sending_link`, `receiving_link`.

Source: OASIS AMQP 1.0 part 2, section 2.6 (links).
"""

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from devstack.servicebus.amqp.events import LinkAttached, LinkDetached
from devstack.servicebus.amqp.performatives import Attach, Detach, Error, Fields, Source, Target
from devstack.servicebus.amqp.types import Described

if TYPE_CHECKING:
    from devstack.servicebus.amqp.session import Session

SERIAL_MASK: Final = 0xFFFFFFFF


class LinkState(Enum):
    """Where the exchange of attach and detach stands."""

    PROPOSED = auto()  # the peer's attach waits for our answer
    REQUESTED = auto()  # our attach waits for the peer's answer
    ATTACHED = auto()
    DETACHING = auto()  # our detach waits for the peer's
    DETACHED = auto()


class Link:
    """What both directions share.

    Attributes:
        name: unique between two containers, chosen by whoever attached first.
        remote: the peer's attach; None until it came.
        max_message_size: in bytes, of one delivery on it; 0 means no limit.
    """

    receives: bool

    def __init__(self, session: "Session", handle: int, name: str, remote: Attach | None) -> None:
        self.session = session
        self.handle = handle
        self.name = name
        self.remote = remote
        self.max_message_size = 0
        self.state = LinkState.REQUESTED if remote is None else LinkState.PROPOSED

    @property
    def is_gone(self) -> bool:
        """Whether a detach was sent or received."""
        return self.state in (LinkState.DETACHING, LinkState.DETACHED)

    def accept(self, *, max_message_size: int, properties: Fields | None = None, source: Source | None = None) -> None:
        """Answer the peer's attach. Its source and target are repeated, unless another `source` is given."""
        remote = self._proposed()
        self.state = LinkState.ATTACHED
        self.max_message_size = max_message_size
        self._answer(remote, source or remote.source, remote.target, properties)

    def refuse(self, error: Error) -> None:
        """Answer the peer's attach with an attach without its terminus, and a detach that says why."""
        remote = self._proposed()
        if self.receives:
            self._answer(remote, remote.source, None, None)
        else:
            self._answer(remote, None, remote.target, None)
        self.detach(error)

    def detach(self, error: Error | None = None) -> None:
        """Close the link for good. Does nothing when it is gone already."""
        if self.is_gone:
            return
        self.state = LinkState.DETACHING
        self.session.forget_link(self)
        self.session.send(Detach(self.handle, closed=True, error=error))

    def is_answered_by(self, attach: Attach) -> bool:
        """Whether the peer's attach is the answer to ours: it bears our link's name, in the other role."""
        return self.name == attach.name and self.receives != attach.role

    def on_answer(self, attach: Attach) -> None:
        """Take the peer's answer to our attach; without its terminus it refuses, and a detach says why."""
        self.remote = attach
        if self.state is not LinkState.REQUESTED:
            return
        if (attach.source if self.receives else attach.target) is not None:
            self.state = LinkState.ATTACHED
            self.session.report(LinkAttached(self))

    def on_detach(self, detach: Detach) -> None:
        """Take the peer's detach, and answer it unless it is itself the answer to ours."""
        if self.state is not LinkState.DETACHING:
            self.session.send(Detach(self.handle, closed=True))
        self.state = LinkState.DETACHED
        self.session.report(LinkDetached(self, detach.error))

    def _proposed(self) -> Attach:
        if self.state is not LinkState.PROPOSED or self.remote is None:
            raise RuntimeError(f"link {self.name}: there is no attach to answer")
        return self.remote

    def _answer(
        self,
        remote: Attach,
        source: Source | Described | None,
        target: Target | Described | None,
        properties: Fields | None,
    ) -> None:
        self.session.send(
            Attach(
                name=self.name,
                handle=self.handle,
                role=self.receives,
                snd_settle_mode=remote.snd_settle_mode,
                rcv_settle_mode=remote.rcv_settle_mode,
                source=source,
                target=target,
                initial_delivery_count=None if self.receives else 0,
                max_message_size=self.max_message_size or None,
                properties=properties,
            )
        )
