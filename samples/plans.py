"""What a demo sends, step by step, and what must come of it. Data alone: `samples.demo` carries it out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from samples.account import Account
from samples.online_retail import Order
from samples.request_hash import Json, message_id, request_hash

MISMATCH: Final = "RequestHashMismatch"
MALFORMED: Final = "MalformedMessage"
CHANGED_ORDERS: Final = 3
"""How many orders of a file are sent again with another quantity."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message to the queue."""

    message_id: str
    session_id: str
    body: str


@dataclass(frozen=True, slots=True)
class Post:
    """Place an order over HTTP; the app sends its message."""

    title: str
    order: Order


@dataclass(frozen=True, slots=True)
class Send:
    """Send messages to the queue."""

    title: str
    letters: tuple[Letter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in their order, and the account they must end with.

    Attributes:
        steps: what is sent.
        orders: the orders that must be stored, each as it was first sent.
        expected: the account.
        shown_order_id: the order whose documents are shown at the end.
    """

    steps: tuple[Post | Send, ...]
    orders: tuple[Order, ...]
    expected: Account
    shown_order_id: str | None = None

    @property
    def session_ids(self) -> frozenset[str]:
        """The sessions that the steps use: one per order, a malformed one included."""
        sent = {letter.session_id for step in self.steps if isinstance(step, Send) for letter in step.letters}
        return frozenset(sent | {str(order["orderId"]) for order in self.orders})

    @property
    def message_ids(self) -> frozenset[str]:
        """The MessageIds that reach the queue, that of the order placed over HTTP included."""
        ids: set[str] = set()
        for step in self.steps:
            match step:
                case Post(order=order):
                    ids.add(message_id(order))
                case Send(letters=letters):
                    ids.update(letter.message_id for letter in letters)
        return frozenset(ids)

    @property
    def request_hashes(self) -> dict[str, str]:
        """Order id -> the request hash that the order's document must bear."""
        return {str(order["orderId"]): request_hash(order) for order in self.orders}


def story(number: str) -> Plan:
    """Return the whole story with two orders: every way a message can end, once each.

    Args:
        number: tells the orders of several runs on one stack apart.
    """
    over_http, over_bus = (_sample_order(f"{place}-{number}") for place in ("web", "bus"))
    broken_id = f"broken-{number}"
    steps = (
        Post("place an order over HTTP", over_http),
        Send("place an order over Service Bus", (_letter(over_bus),)),
        Send("the same again: same MessageId", (_letter(over_bus),)),
        Send("the same as a deliberate copy: another MessageId", (_letter(over_bus, "copy1"),)),
        Send("the same order with another quantity: another hash", (_letter(changed(over_bus)),)),
        Send("half an order", (Letter(broken_id, broken_id, _letter(over_bus).body[:60]),)),
    )
    return Plan(
        steps=steps,
        orders=(over_http, over_bus),
        expected=_expected(orders=2, sent=6, copies=1, resends=1, dead_letters={MISMATCH: 1, MALFORMED: 1}),
        shown_order_id=str(over_bus["orderId"]),
    )


def each_order_three_times(orders: Sequence[Order]) -> Plan:
    """Return the plan for a file: each order once, once more and as a copy; the first few also changed."""
    some = orders[:CHANGED_ORDERS]
    count = len(orders)
    steps = (
        Send(f"{count} orders", tuple(_letter(order) for order in orders)),
        Send(f"the same {count} again: same MessageIds", tuple(_letter(order) for order in orders)),
        Send(
            f"{count} deliberate copies: MessageIds with ~copy1",
            tuple(_letter(order, "copy1") for order in orders),
        ),
        Send(
            f"{len(some)} with another quantity: another hash, so another MessageId",
            tuple(_letter(changed(order)) for order in some),
        ),
    )
    return Plan(
        steps=steps,
        orders=tuple(orders),
        expected=_expected(
            orders=count,
            sent=3 * count + len(some),
            copies=count,
            resends=count,
            dead_letters={MISMATCH: len(some)},
        ),
    )


def changed(order: Order) -> Order:
    """Return the order with its first line's quantity doubled: another number, and not 0 either."""
    lines = order["lines"]
    if isinstance(lines, list) and lines and isinstance(lines[0], dict):
        quantity = lines[0].get("quantity")
        if isinstance(quantity, int):
            return order | {"lines": [{**lines[0], "quantity": 2 * quantity}, *lines[1:]]}
    raise ValueError(f"order {order['orderId']}: its first line has no quantity")


def _letter(order: Order, suffix: str = "") -> Letter:
    body = json.dumps(order, ensure_ascii=False)
    return Letter(message_id(order, suffix), str(order["orderId"]), body)


def _expected(*, orders: int, sent: int, copies: int, resends: int, dead_letters: dict[str, int]) -> Account:
    return Account(
        sent=sent,
        documents=orders,
        events=orders,
        other_documents=0,
        placed=orders,
        duplicates=copies,
        other_completions=0,
        dropped=resends,
        dead_letters=dead_letters,
        left=0,
    )


def _sample_order(order_id: str) -> Order:
    lines: list[Json] = [
        {"sku": "MUG-01", "description": "Enamel mug, blue", "quantity": 2, "unitPrice": "7.50"},
        {"sku": "TEA-11", "description": "Loose leaf tea, 250 g", "quantity": 1, "unitPrice": "11.20"},
    ]
    return {
        "schemaVersion": 1,
        "type": "OrderPlaced",
        "orderId": order_id,
        "operationId": order_id,
        "sequence": 1,
        "occurredAt": "2026-03-02T09:30:00Z",
        "customerId": "c-204",
        "currency": "GBP",
        "lines": lines,
    }
