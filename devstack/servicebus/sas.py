"""Shared access signatures: signing one as a client, and verifying one as the broker.

Source: Azure docs, "Service Bus access control with Shared Access Signatures": the signature is the base64 of the
HMAC-SHA256, under the key, of the URL-encoded resource, a line feed and the expiry in seconds since 1970.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus

_SCHEME: Final = "SharedAccessSignature "


class InvalidTokenError(ValueError):
    """The token grants nothing; the text says why, without the token."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a verified token allows: all that lies at or below `resource`, until it expires."""

    resource: str
    expires_at: datetime


def sign(resource: str, key_name: str, key: str, expires_at: datetime) -> str:
    """Return a token for a resource, such as `sb://host/queue`."""
    encoded = quote_plus(resource)
    expiry = str(int(expires_at.timestamp()))
    signature = quote(_signature(encoded, expiry, key), safe="")
    return f"{_SCHEME}sr={encoded}&sig={signature}&se={expiry}&skn={key_name}"


def verify(token: str, keys: Mapping[str, str], now: datetime) -> Grant:
    """Check a token's signature and expiry.

    Args:
        token: as sent to `$cbs`.
        keys: key by key name.
        now: aware, UTC.

    Raises:
        InvalidTokenError: it is malformed, expired, of an unknown key name, or not signed with the key.
    """
    if not token.startswith(_SCHEME):
        raise InvalidTokenError("the token is no shared access signature")
    fields = dict(part.split("=", 1) for part in token[len(_SCHEME) :].split("&") if "=" in part)
    missing = sorted({"sr", "sig", "se", "skn"} - fields.keys())
    if missing:
        raise InvalidTokenError(f"the token has no {missing[0]}")
    key = keys.get(unquote_plus(fields["skn"]))
    if key is None:
        raise InvalidTokenError("the key name is unknown")
    # The signature covers the resource exactly as it is encoded in the token.
    expected = _signature(fields["sr"], fields["se"], key)
    signature = unquote(fields["sig"])
    if not hmac.compare_digest(signature.encode(), expected.encode()):
        raise InvalidTokenError("the signature is wrong")
    if not fields["se"].isdecimal() or len(fields["se"]) > len("9999999999"):
        raise InvalidTokenError("the expiry is no time")
    expires_at = datetime.fromtimestamp(int(fields["se"]), UTC)
    if expires_at <= now:
        raise InvalidTokenError("the token is expired")
    return Grant(unquote_plus(fields["sr"]), expires_at)


def _signature(encoded_resource: str, expiry: str, key: str) -> str:
    digest = hmac.new(key.encode(), f"{encoded_resource}\n{expiry}".encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()
