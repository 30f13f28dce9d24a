"""Requests written by hand and signed as a client does."""

import io
import json
from dataclasses import dataclass
from email.utils import formatdate

import aiohttp
from yarl import URL

from devstack.cosmos.wire.auth import authorization_header
from devstack.cosmos.wire.paths import parse_path

KEY = b"a key of the tests"
DOCS = "/dbs/shop/colls/orders/docs/"
P = {"x-ms-documentdb-partitionkey": '["p"]'}


@dataclass(frozen=True)
class Reply:
    """An answer that was read."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        document = json.loads(self.body)
        assert isinstance(document, dict)
        return document


class Caller:
    """Signs and sends requests as a client would; ``link`` replaces the signed link."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._port = port

    async def __call__(
        self, verb: str, path: str, body: object = None, link: str | None = None, **headers: str
    ) -> Reply:
        parsed = parse_path(path)
        date = formatdate(usegmt=True)
        signed = {
            "x-ms-date": date,
            "Authorization": authorization_header(KEY, verb, parsed.type, link or parsed.signed_links[0], date),
        }
        data = body if isinstance(body, io.IOBase | bytes | None) else json.dumps(body).encode()
        async with self._session.request(
            verb,
            URL(f"http://127.0.0.1:{self._port}{path}", encoded=True),
            data=data,
            headers=signed | headers,
            skip_auto_headers=["Content-Type"],
        ) as response:
            lowered = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, lowered, await response.read())
