"""Frames and protocol headers: cutting a byte stream, and putting frames together.

Source: OASIS AMQP 1.0 part 2, sections 2.2 (version negotiation) and 2.3 (framing).
"""

import struct
from dataclasses import dataclass
from typing import Final

from devstack.servicebus.amqp.composites import encode_composite
from devstack.servicebus.amqp.conditions import FRAMING_ERROR, ProtocolError
from devstack.servicebus.amqp.performatives import Performative, SaslFrame

AMQP_HEADER: Final = b"AMQP\x00\x01\x00\x00"
SASL_HEADER: Final = b"AMQP\x03\x01\x00\x00"
EMPTY_FRAME: Final = b"\x00\x00\x00\x08\x02\x00\x00\x00"
MIN_MAX_FRAME_SIZE: Final = 512
_FRAME_HEAD: Final = struct.Struct(">IBBH")
_AMQP_TYPE: Final = 0x00
_SASL_TYPE: Final = 0x01


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; an empty `body` is a heartbeat."""

    is_sasl: bool
    channel: int
    body: bytes


def amqp_frame(channel: int, performative: Performative, payload: bytes = b"") -> bytes:
    """Put a performative and its payload into a frame."""
    body = encode_composite(performative)
    return _FRAME_HEAD.pack(8 + len(body) + len(payload), 2, _AMQP_TYPE, channel) + body + payload


def sasl_frame(content: SaslFrame) -> bytes:
    """Put a SASL message into a frame."""
    body = encode_composite(content)
    return _FRAME_HEAD.pack(8 + len(body), 2, _SASL_TYPE, 0) + body


class FrameReader:
    """Cuts a stream into protocol headers and frames, whatever pieces it comes in."""

    def __init__(self, max_frame_size: int) -> None:
        self._max_frame_size = max_frame_size
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Add received octets."""
        self._buffer += data

    def take_header(self) -> bytes | None:
        """Take a protocol header of 8 octets; None when more are needed."""
        if len(self._buffer) < len(AMQP_HEADER):
            return None
        header = bytes(self._buffer[: len(AMQP_HEADER)])
        del self._buffer[: len(AMQP_HEADER)]
        return header

    def take_frame(self) -> Frame | None:
        """Take the next whole frame; None when more octets are needed.

        Raises:
            ProtocolError: a size or type is impossible; nothing after this point can be read.
        """
        if len(self._buffer) < _FRAME_HEAD.size:
            return None
        size, offset, kind, channel = _FRAME_HEAD.unpack_from(self._buffer)
        start = 4 * offset
        if not 8 <= start <= size <= self._max_frame_size:
            raise ProtocolError(FRAMING_ERROR, f"a frame of {size} octets with its body at {start}")
        if kind not in (_AMQP_TYPE, _SASL_TYPE):
            raise ProtocolError(FRAMING_ERROR, f"unknown frame type {kind}")
        if len(self._buffer) < size:
            return None
        body = bytes(self._buffer[start:size])
        del self._buffer[:size]
        return Frame(is_sasl=kind == _SASL_TYPE, channel=channel, body=body)
