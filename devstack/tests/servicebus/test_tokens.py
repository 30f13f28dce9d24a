"""Shared access signatures, connection strings, and what a grant reaches."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from devstack.servicebus.connection_string import ConnectionString
from devstack.servicebus.sas import Grant, InvalidTokenError, sign, verify
from devstack.servicebus.server.addresses import Address, Node, covers, parse_address

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
KEYS = {"Root": "key"}


def token_by_hand(*, expiry: str = "1893459600", key: bytes = b"key", name: str = "Root") -> str:
    """A token as the docs build it; 1893459600 is 2030-01-01 01:00 UTC."""
    resource = "sb%3A%2F%2Fhost%2Fqueue"
    digest = hmac.new(key, f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode().replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    return f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn={name}"


def test_a_token_by_hand_is_the_one_that_is_signed_and_verified() -> None:
    assert sign("sb://host/queue", "Root", "key", LATER) == token_by_hand()
    assert verify(token_by_hand(), KEYS, NOW) == Grant("sb://host/queue", LATER)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (token_by_hand(key=b"other"), "signature"),
        (token_by_hand(name="Other"), "key name"),
        (token_by_hand(expiry="1893456000"), "expired"),
        (token_by_hand(expiry="soon"), "expiry"),
        (token_by_hand().replace("&sig=", "&gis="), "sig"),
        (token_by_hand().replace("queue", "other"), "signature"),
        ("eyJhbGciOi.J9", "shared access signature"),
    ],
)
def test_other_tokens_are_refused_without_being_shown(token: str, reason: str) -> None:
    with pytest.raises(InvalidTokenError, match=reason) as caught:
        verify(token, KEYS, NOW)
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    ("resource", "path", "reaches"),
    [
        ("amqps://localhost/", "orders", True),
        ("sb://host:5672/orders", "orders", True),
        ("sb://host/ORDERS", "orders", True),
        ("sb://host/orders", "orders/$deadletterqueue", True),
        ("sb://host/orders/$deadletterqueue", "orders", False),
        ("sb://host/orders", "orders2", False),
        ("amqp://host/other", "orders", False),
    ],
)
def test_a_grant_reaches_what_lies_below_its_resource(resource: str, path: str, reaches: bool) -> None:
    assert covers(resource, path) is reaches


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("$cbs", Address(Node.CBS)),
        ("amqps://127.0.0.1:5672/orders", Address(Node.ENTITY, "orders")),
        ("/orders", Address(Node.ENTITY, "orders")),
        ("orders/$management", Address(Node.MANAGEMENT, "orders")),
        ("orders/$DeadLetterQueue", Address(Node.ENTITY, "orders", True)),
        ("amqps://h/orders/$DeadLetterQueue/$Management", Address(Node.MANAGEMENT, "orders", True)),
    ],
)
def test_addresses_of_all_clients_are_read(text: str, address: Address) -> None:
    assert parse_address(text) == address


def test_a_connection_string_goes_there_and_back_and_hides_its_key() -> None:
    parsed = ConnectionString("127.0.0.1", 5672, "Root", "c2VjcmV0==")
    assert ConnectionString.parse(str(parsed)) == parsed
    assert "c2VjcmV0" not in repr(parsed)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SharedAccessKeyName=a;SharedAccessKey=b", "Endpoint"),
        ("Endpoint=sb://h:1;SharedAccessKey=b", "SharedAccessKeyName"),
        ("Endpoint=sb://h:1;SharedAccessKeyName=a", "SharedAccessKey"),
        ("Endpoint=sb://h;SharedAccessKeyName=a;SharedAccessKey=hidden", "sb://host:port"),
    ],
)
def test_a_connection_string_that_lacks_a_part_is_refused(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part) as caught:
        ConnectionString.parse(text)
    assert "hidden" not in str(caught.value)
