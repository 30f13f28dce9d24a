from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.functions.settlement.protobuf import SettlementRequest, WireError, decode_request


def test_dead_letter_request_as_protobuf_encodes_it() -> None:
    # Worked out by hand: tag = field << 3 | 2, then the length; a StringValue is a message of its own.
    octets = b"\x0a\x03abc" + b"\x12\x01\xff" + b"\x1a\x04\x0a\x02no" + b"\x22\x06\x0a\x04\xc3\xa9\xc3\xa9"
    assert decode_request(octets) == SettlementRequest(
        lock_token="abc",  # noqa: S106
        properties_to_modify=b"\xff",
        reason="no",
        description="éé",
    )


def test_absent_fields_are_empty() -> None:
    assert decode_request(b"") == SettlementRequest(lock_token="", properties_to_modify=b"", reason="", description="")


def test_a_length_of_two_octets() -> None:
    assert decode_request(b"\x0a\xac\x02" + b"x" * 300).lock_token == "x" * 300


@pytest.mark.parametrize(
    "octets", [b"\x0a", b"\x0a\x05abc", b"\x08\x01", b"\x0a\x01\xff", b"\xff" * 12, b"\x1a\x02\x0a\x05"]
)
def test_broken_octets_are_refused(octets: bytes) -> None:
    with pytest.raises(WireError):
        decode_request(octets)


@given(st.binary())
def test_any_octets_decode_or_are_refused(octets: bytes) -> None:
    with suppress(WireError):
        assert isinstance(decode_request(octets), SettlementRequest)
