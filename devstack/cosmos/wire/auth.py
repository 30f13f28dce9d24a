"""Authorization by the account's master key.

Source: "Access control on Azure Cosmos DB resources": the header is the URL-encoded text
``type=master&ver=1.0&sig=<base64>``; the signature is HMAC-SHA256 with the decoded key over verb, resource
type, resource link, date and an empty line.
"""

import base64
import hmac
from collections.abc import Iterable
from urllib.parse import quote, unquote

from devstack.cosmos.errors import unauthorized


def sign(key: bytes, verb: str, resource_type: str, resource_link: str, date: str) -> str:
    """The signature in base64; ``resource_link`` is taken as it is, the other parts are lowercased."""
    text = f"{verb.lower()}\n{resource_type.lower()}\n{resource_link}\n{date.lower()}\n\n"
    return base64.b64encode(hmac.digest(key, text.encode("utf-8", "surrogateescape"), "sha256")).decode("ascii")


def authorization_header(key: bytes, verb: str, resource_type: str, resource_link: str, date: str) -> str:
    """The whole header that a client sends."""
    return quote(f"type=master&ver=1.0&sig={sign(key, verb, resource_type, resource_link, date)}", safe="")


def authorize(
    key: bytes, verb: str, resource_type: str, links: Iterable[str], date: str | None, header: str | None
) -> None:
    """Check a request's signature against each link that a client may have signed.

    Raises:
        CosmosError: 401, if the header or the date is missing, or no link makes the signature right.
    """
    if not header:
        raise unauthorized("Required header authorization is missing. Ensure a valid Authorization token is passed.")
    if not date:
        raise unauthorized("Required header x-ms-date is missing; the signature covers it.")
    # Not parse_qs: it would turn the signature's "+" into a space.
    fields = dict(part.partition("=")[::2] for part in unquote(header).split("&"))
    if fields.get("type") != "master" or fields.get("ver") != "1.0":
        raise unauthorized("The authorization token must be of type master and version 1.0.")
    signature = fields.get("sig", "").encode("utf-8", "surrogateescape")
    for link in links:
        if hmac.compare_digest(signature, sign(key, verb, resource_type, link, date).encode("ascii")):
            return
    raise unauthorized(
        "The input authorization token can't serve the request. The wrong key is being used or the expected "
        "payload is not built as per the protocol."
    )
