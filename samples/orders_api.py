"""The HTTP side of the app: place an order, and follow the answer's Location."""

import json
from typing import Final
from urllib.parse import urljoin

import aiohttp

from samples.addresses import DemoError
from samples.online_retail import Order
from samples.request_hash import request_hash

HTTP_TIMEOUT: Final = aiohttp.ClientTimeout(total=60)


async def place(http: aiohttp.ClientSession, order: Order) -> str:
    """Place an order over HTTP and return the URL that the answer names.

    Raises:
        DemoError: the answer is not 202 with a Location and the request hash that we computed too.
    """
    async with http.post("/api/orders", json=order) as answer:
        text = await answer.text()
        location = answer.headers.get("Location", "")
        if answer.status != 202 or not location:
            raise DemoError(f"POST /api/orders: expected 202 with a Location, got {answer.status} {text[:500]}")
        if _request_hash_of(text) != request_hash(order):
            raise DemoError(f"POST /api/orders: expected requestHash {request_hash(order)}, got {text[:500]}")
        print(f"     202 Accepted, Location: {location}", flush=True)
        return urljoin(str(answer.url), location)


async def show_operation(http: aiohttp.ClientSession, location: str) -> None:
    """Read what the Location of an accepted order leads to.

    Raises:
        DemoError: it is not there, though its message is settled.
    """
    async with http.get(location) as answer:
        text = await answer.text()
        if answer.status != 200:
            raise DemoError(f"GET {location}: expected 200, got {answer.status} {text[:500]}")
        print(f"GET {location}\n     200 {text}", flush=True)


def _request_hash_of(text: str) -> object:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer.get("requestHash") if isinstance(answer, dict) else None
