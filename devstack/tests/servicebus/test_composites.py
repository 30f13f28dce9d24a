"""Performatives and outcomes against octets worked out by hand from the standard."""

import pytest

from devstack.servicebus.amqp.composites import decode_composite, encode_composite
from devstack.servicebus.amqp.performatives import (
    Accepted,
    Close,
    Composite,
    Detach,
    Disposition,
    Error,
    Flow,
    Modified,
    Rejected,
)
from devstack.servicebus.amqp.types import DecodeError


@pytest.mark.parametrize(
    ("composite", "octets"),
    [
        (Detach(0, closed=True), "00 53 16 c0 04 03 43 41 40"),
        (Disposition(False, 0, settled=True, state=Accepted()), "00 53 15 c0 0a 06 42 43 40 41 00532445 40"),
        (Flow(None, 1, 2, 3), "00 53 13 c0 0f 0b 40 5201 5202 5203 40 40 40 40 40 40 40"),
        (
            Rejected(Error("amqp:not-found")),
            "00 53 25 c0 19 01 00 53 1d c0 13 03 a3 0e" + b"amqp:not-found".hex() + "40 40",
        ),
        (Modified(True, False), "00 53 27 c0 04 03 41 42 40"),
        (Close(), "00 53 18 c0 02 01 40"),
    ],
)
def test_every_field_is_written(composite: Composite, octets: str) -> None:
    assert encode_composite(composite) == bytes.fromhex(octets)
    assert decode_composite(bytes.fromhex(octets))[0] == composite


def test_a_list_that_ends_early_is_read() -> None:
    assert decode_composite(bytes.fromhex("00 53 16 c0 02 01 43"))[0] == Detach(0)


@pytest.mark.parametrize(
    ("octets", "field"),
    [
        ("00 53 16 45", "detach.handle"),
        ("00 53 16 c0 03 01 a1 00", "detach.handle"),
        ("00 53 16 c0 07 03 43 41 00 53 24 45", "detach.error"),
        ("00 53 18 c0 03 02 40 40", "close"),
    ],
)
def test_a_wrong_field_is_named(octets: str, field: str) -> None:
    with pytest.raises(DecodeError, match=field):
        decode_composite(bytes.fromhex(octets))
