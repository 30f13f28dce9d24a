"""Operations on orders, as they come over HTTP and from the queue `orders`.

    {"schemaVersion": 1, "type": "OrderPlaced", "orderId": "489434", "operationId": "489434", "sequence": 1,
     "occurredAt": "2009-12-01T07:45:00Z", "customerId": "13085", "currency": "GBP",
     "lines": [{"sku": "85048", "description": "15CM CHRISTMAS GLASS BALL", "quantity": 12, "unitPrice": "6.95"}]}

Optional: customerId, description, endOfSequence (default false). SKUs may repeat; a quantity may be negative.

Operations that follow have `schemaVersion`, `orderId`, `operationId`, `sequence` (2 or more), `occurredAt` and:

    TransactionAdded     transactionId, kind, amount (signed)
    TransactionAmended   transactionId, amount (the new one, not the difference)
    OrderDeleted         nothing more
    SequenceVoided       nothing more
"""

from contextlib import AbstractContextManager
from decimal import Context, Decimal, localcontext
from typing import Annotated, Final

import msgspec

from shared.idempotency.messages import Identifier, Instant, Message, Money

type Sku = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
type Text = Annotated[str, msgspec.Meta(max_length=500)]
# max_length: the pattern alone would let a line break follow.
type Currency = Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$", max_length=3)]
type Kind = Annotated[str, msgspec.Meta(min_length=1, max_length=50)]
type Quantity = Annotated[int, msgspec.Meta(ge=-1_000_000_000, le=1_000_000_000)]

_TOTAL_DIGITS: Final = 15
AMOUNT_MAX: Final = Decimal(10) ** _TOTAL_DIGITS
"""Totals stay below it, so that they are amounts themselves."""

_EXACT_DIGITS: Final = 60  # of a sum over all lines that fit a message, each at its widest


def exact() -> AbstractContextManager[Context]:
    """While it is entered, money is added and multiplied exactly: the default context rounds at 28 digits."""
    return localcontext(prec=_EXACT_DIGITS)


class OrderLine(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """One line: so many of an article at a price."""

    sku: Sku
    description: Text | None = None
    quantity: Quantity
    unit_price: Money

    def __post_init__(self) -> None:
        """Refuse a line of nothing."""
        if self.quantity == 0:
            raise ValueError("quantity: must not be 0")


class _Operation(Message, frozen=True, kw_only=True):
    """What all operations say.

    Attributes:
        order_id: session and partition.
        operation_id: the key; unique within the order.
        sequence: 1, 2, 3, ... within the order, by whoever feeds it.
        occurred_at: the producer's time.
        end_of_sequence: whether no operation follows.
    """

    order_id: Identifier
    operation_id: Identifier
    sequence: Annotated[int, msgspec.Meta(ge=1)]
    occurred_at: Instant
    end_of_sequence: bool = False


class OrderPlaced(_Operation, frozen=True, kw_only=True):
    """The first operation of an order; its `operationId` is the order's id, its `sequence` is 1."""

    customer_id: Identifier | None = None
    currency: Currency
    lines: Annotated[tuple[OrderLine, ...], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Refuse what only a later operation may say."""
        if self.operation_id != self.order_id:
            raise ValueError("operationId: must equal orderId, because OrderPlaced creates the order")
        if self.sequence != 1:
            raise ValueError("sequence: must be 1, because OrderPlaced is an order's first operation")
        if abs(self.total) >= AMOUNT_MAX:
            raise ValueError(f"lines: their total must have at most {_TOTAL_DIGITS} digits before the point")

    @property
    def total(self) -> Money:
        """Sum of quantity x unitPrice, exact, in `currency`."""
        with exact():
            return Money(sum((line.quantity * line.unit_price for line in self.lines), Decimal(0)))


class _Later(_Operation, frozen=True, kw_only=True):
    """Whatever follows the placing."""

    def __post_init__(self) -> None:
        """Refuse the number and the id of the placing."""
        if self.sequence == 1:
            raise ValueError("sequence: must be 2 or more, because only OrderPlaced is an order's first operation")
        if self.operation_id == self.order_id:
            raise ValueError("operationId: must not equal orderId, which is the id of the placing")


class TransactionAdded(_Later, frozen=True, kw_only=True):
    """An amount is booked on the order; negative for what goes out."""

    transaction_id: Identifier
    kind: Kind
    amount: Money


class TransactionAmended(_Later, frozen=True, kw_only=True):
    """An earlier transaction has another amount, which replaces the old one."""

    transaction_id: Identifier
    amount: Money


class OrderDeleted(_Later, frozen=True, kw_only=True):
    """The order is withdrawn; what was taken in stays, and nothing may follow."""


class SequenceVoided(_Later, frozen=True, kw_only=True):
    """An operator's: takes the place of a number that was lost, and changes nothing."""


type Operation = OrderPlaced | TransactionAdded | TransactionAmended | OrderDeleted | SequenceVoided
