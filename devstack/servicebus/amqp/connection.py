"""The connection engine: octets in, events and octets out. It serves both ends; no socket, no clock.

The caller feeds what it received to `receive`, acts on the events, and writes what `take_output` returns. A
peer's fault never raises: it closes the connection with an error, and is reported as `Closed`.

Source: OASIS AMQP 1.0 part 2, sections 2.2 (version negotiation) and 2.4 (connections).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from devstack.servicebus.amqp import sasl
from devstack.servicebus.amqp.composites import decode_composite
from devstack.servicebus.amqp.conditions import (
    DECODE_ERROR,
    FRAMING_ERROR,
    ILLEGAL_STATE,
    NOT_ALLOWED,
    UNAUTHORIZED_ACCESS,
    ProtocolError,
)
from devstack.servicebus.amqp.events import Closed, Event, Opened
from devstack.servicebus.amqp.frames import (
    AMQP_HEADER,
    EMPTY_FRAME,
    MIN_MAX_FRAME_SIZE,
    SASL_HEADER,
    Frame,
    FrameReader,
    amqp_frame,
    sasl_frame,
)
from devstack.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Close,
    Detach,
    Disposition,
    End,
    Error,
    Flow,
    Open,
    Performative,
    SaslFrame,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    Transfer,
)
from devstack.servicebus.amqp.session import Session
from devstack.servicebus.amqp.types import DecodeError

_MAX_FRAME_SIZE: Final = 1024 * 1024
_CHANNEL_MAX: Final = 65535


class Role(Enum):
    """Which end of the connection this is."""

    CLIENT = auto()
    SERVER = auto()


class Phase(Enum):
    """What the peer has to send next."""

    SASL_HEADER = auto()
    SASL = auto()
    AMQP_HEADER = auto()
    OPEN = auto()
    ESTABLISHED = auto()
    CLOSED = auto()


@dataclass(frozen=True, slots=True)
class Identity:
    """What a container says of itself. `idle_time_out` is in milliseconds; None asks for no heartbeat."""

    container_id: str
    hostname: str | None = None
    idle_time_out: int | None = None


class Connection:
    """One AMQP connection.

    Attributes:
        phase: what the peer has to send next.
        remote: the peer's open; None until it came.
    """

    def __init__(self, role: Role, identity: Identity) -> None:
        self.phase = Phase.SASL_HEADER
        self.remote: Open | None = None
        self._role = role
        self._identity = identity
        self._reader = FrameReader(_MAX_FRAME_SIZE)
        self._output: list[bytes] = []
        self._events: list[Event] = []
        self._sessions: dict[int, Session] = {}
        self._sessions_by_remote_channel: dict[int, Session] = {}
        self._close_sent = False
        if role is Role.CLIENT:
            self._output.append(SASL_HEADER)

    @property
    def heartbeat_seconds(self) -> float | None:
        """How often to call `heartbeat`: half of the peer's idle time-out; None when it has none."""
        if self.remote is None or not self.remote.idle_time_out:
            return None
        return self.remote.idle_time_out / 2000

    def heartbeat(self) -> None:
        """Write an empty frame, so that the peer knows that we live."""
        if self.phase is Phase.ESTABLISHED:
            self._output.append(EMPTY_FRAME)

    def begin_session(self) -> Session:
        """Begin a session of ours."""
        channel = next(number for number in range(_CHANNEL_MAX + 1) if number not in self._sessions)
        session = self._sessions[channel] = self._new_session(channel)
        session.begin()
        return session

    def close(self, error: Error | None = None) -> None:
        """Close the connection; frames that still come are ignored, but for the peer's close."""
        if not self._close_sent and self.phase is not Phase.CLOSED:
            self._close_sent = True
            self._output.append(amqp_frame(0, Close(error)))

    def take_output(self) -> bytes:
        """Take the octets to write to the peer."""
        output = b"".join(self._output)
        self._output.clear()
        return output

    def receive(self, data: bytes) -> Iterator[Event]:
        """Take octets from the peer, and yield what they bring about, one frame after the other.

        The next frame is looked at only when the last one's events are consumed: so at each event the links are
        in the state that the event tells of.
        """
        self._reader.feed(data)
        advanced = True
        while advanced and self.phase is not Phase.CLOSED:
            try:
                advanced = self._advance()
            except DecodeError as error:
                self._fail(DECODE_ERROR, str(error))
            except ProtocolError as error:
                self._fail(error.condition, error.description)
            events, self._events = self._events, []
            yield from events

    def _advance(self) -> bool:
        """Take one header or frame; False when more octets are needed."""
        if self.phase in (Phase.SASL_HEADER, Phase.AMQP_HEADER):
            header = self._reader.take_header()
            if header is not None:
                self._on_header(header)
            return header is not None
        frame = self._reader.take_frame()
        if frame is None:
            return False
        if frame.body:
            self._on_frame(frame)
        return True

    def _on_header(self, header: bytes) -> None:
        expected = SASL_HEADER if self.phase is Phase.SASL_HEADER else AMQP_HEADER
        if header != expected:
            # The standard's answer to a wrong header: the header we speak, and the end of the connection.
            self._output.append(expected)
            self.phase = Phase.CLOSED
            self._events.append(Closed(Error(FRAMING_ERROR, "The peer speaks another protocol."), True))
            return
        if self.phase is Phase.SASL_HEADER:
            self.phase = Phase.SASL
            if self._role is Role.SERVER:
                self._output += [SASL_HEADER, sasl_frame(sasl.offer())]
            return
        self.phase = Phase.OPEN
        if self._role is Role.SERVER:
            self._output.append(AMQP_HEADER)

    def _on_frame(self, frame: Frame) -> None:
        content, payload_at = decode_composite(frame.body)
        if frame.is_sasl != (self.phase is Phase.SASL):
            raise ProtocolError(ILLEGAL_STATE, "a SASL frame and an AMQP frame are each out of place")
        match content:
            case SaslMechanisms() | SaslInit() | SaslOutcome() if frame.is_sasl:
                self._on_sasl(content)
            case Open():
                self._on_open(content)
            case Close():
                self._on_close(content)
            case _ if self.phase is not Phase.ESTABLISHED:
                raise ProtocolError(ILLEGAL_STATE, "the first frame has to be an open")
            case Begin():
                self._on_begin(frame.channel, content)
            case Attach() | Flow() | Transfer() | Disposition() | Detach() | End():
                self._on_session_frame(frame, content, payload_at)
            case _:
                raise ProtocolError(NOT_ALLOWED, f"a frame holds {type(content).__name__}")

    def _on_sasl(self, content: SaslFrame) -> None:
        if self._role is Role.SERVER:
            outcome = sasl.judge(content)
            self._output.append(sasl_frame(outcome))
            if outcome.code:
                raise ProtocolError(UNAUTHORIZED_ACCESS, "SASL: the client chose an unknown mechanism")
        else:
            choice = sasl.reply(content, self._identity.hostname)
            if choice is not None:
                self._output.append(sasl_frame(choice))
                return
            self._output.append(AMQP_HEADER)
            self._send_open()
        self.phase = Phase.AMQP_HEADER

    def _on_open(self, content: Open) -> None:
        if self.phase is not Phase.OPEN:
            raise ProtocolError(ILLEGAL_STATE, "a second open")
        if content.max_frame_size is not None and content.max_frame_size < MIN_MAX_FRAME_SIZE:
            raise ProtocolError(NOT_ALLOWED, f"open.max-frame-size: at least {MIN_MAX_FRAME_SIZE}")
        self.phase = Phase.ESTABLISHED
        self.remote = content
        if self._role is Role.SERVER:
            self._send_open()
        self._events.append(Opened(content))

    def _send_open(self) -> None:
        identity = self._identity
        sizes = (_MAX_FRAME_SIZE, _CHANNEL_MAX, identity.idle_time_out)
        opening = Open(identity.container_id, identity.hostname, *sizes)
        self._output.append(amqp_frame(0, opening))

    def _on_close(self, content: Close) -> None:
        for session in self._sessions.values():
            session.detach_all(content.error)
        self._sessions.clear()
        self._sessions_by_remote_channel.clear()
        self.close()
        self.phase = Phase.CLOSED
        self._events.append(Closed(content.error, is_fault=False))

    def _on_begin(self, channel: int, content: Begin) -> None:
        if channel in self._sessions_by_remote_channel:
            raise ProtocolError(NOT_ALLOWED, f"begin: channel {channel} is in use")
        if content.remote_channel is None:
            if channel in self._sessions:
                raise ProtocolError(NOT_ALLOWED, f"begin: channel {channel} is in use by this side")
            session = self._sessions[channel] = self._new_session(channel)
            session.begin(remote_channel=channel)
        else:
            answered = self._sessions.get(content.remote_channel)
            if answered is None:
                raise ProtocolError(NOT_ALLOWED, f"begin: no session on channel {content.remote_channel}")
            session = answered
        self._sessions_by_remote_channel[channel] = session
        session.on_begin(content)

    def _on_session_frame(
        self, frame: Frame, content: Attach | Flow | Transfer | Disposition | Detach | End, payload_at: int
    ) -> None:
        session = self._sessions_by_remote_channel.get(frame.channel)
        if session is None:
            if isinstance(content, Detach):
                # azure-servicebus detaches a second time, after the end of the session.
                return
            raise ProtocolError(NOT_ALLOWED, f"no session on channel {frame.channel}")
        if isinstance(content, End):
            del self._sessions_by_remote_channel[frame.channel]
            del self._sessions[session.channel]
        session.on_performative(content, frame.body[payload_at:])

    def _new_session(self, channel: int) -> Session:
        return Session(
            channel,
            write=self._write,
            report=lambda event: self._events.append(event),
            max_frame_size=self._remote_max_frame_size,
        )

    def _remote_max_frame_size(self) -> int:
        return (self.remote and self.remote.max_frame_size) or _MAX_FRAME_SIZE

    def _write(self, channel: int, performative: Performative, payload: bytes) -> None:
        if not self._close_sent:
            self._output.append(amqp_frame(channel, performative, payload))

    def _fail(self, condition: str, description: str) -> None:
        """End the connection because of the peer's fault."""
        error = Error(condition, description)
        if self.phase in (Phase.OPEN, Phase.ESTABLISHED):
            self.close(error)
        self.phase = Phase.CLOSED
        self._events.append(Closed(error, is_fault=True))
