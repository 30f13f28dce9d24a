"""Orders from a file in the column format of the *Online Retail* data sets.

An invoice is an order: its rows, in file order, are the order's lines, wherever in the file they stand.
Quantities may be negative (a cancellation, a stock correction), prices 0, customers missing, SKUs repeated.
Times are read as UTC. The file holds the shop's local time and does not name its zone; a fixed zone gives an
invoice one `occurredAt`, and so one request hash, on every machine and in every season.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from samples.request_hash import Json

COLUMNS: Final = (
    "Invoice",
    "StockCode",
    "Description",
    "Quantity",
    "InvoiceDate",
    "Price",
    "Customer ID",
    "Country",
)
_INVOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_QUANTITY = re.compile(r"-?[0-9]{1,9}")
_PRICE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?")

type Order = dict[str, Json]
"""An `OrderPlaced` message."""

type Row = Mapping[str, str]


class FileFormatError(ValueError):
    """The file cannot be read as orders; the text names line, column and rule. Mend the file."""


def load_orders(path: Path) -> list[Order]:
    """Read the orders of a UTF-8 file.

    Raises:
        FileFormatError: as `read_orders`, or the file is not UTF-8.
    """
    try:
        # utf-8-sig: spreadsheets write a byte order mark, which would else join the first column's name.
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return read_orders(lines)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"byte {error.start}: is not UTF-8; save the file as UTF-8") from error


def read_orders(lines: Iterable[str]) -> list[Order]:
    """Return one `OrderPlaced` message per invoice, in the order of their first rows.

    A row with quantity 0 is refused, not skipped: the product refuses such a line, and an order that silently
    lost one would differ from its invoice. Where the rows of an invoice differ in time, the first one counts.

    Raises:
        FileFormatError: a column is missing, a value breaks its rule, rows of one invoice name two customers,
            or there is no order at all.
    """
    orders: dict[str, Order] = {}
    order_lines: dict[str, list[Json]] = {}
    for number, row in _rows(lines):
        invoice = _matching(row, "Invoice", _INVOICE, "letters, digits, '.', '_' or '-', at most 100", number)
        if invoice not in orders:
            orders[invoice] = _order(row, invoice, number)
            order_lines[invoice] = []
        if row["Customer ID"] != (orders[invoice].get("customerId") or ""):
            raise _fault(number, "Customer ID", f"invoice {invoice} named another customer before")
        order_lines[invoice].append(_line(row, number))
    if not orders:
        raise FileFormatError("the file holds no orders")
    return [order | {"lines": order_lines[invoice]} for invoice, order in orders.items()]


def _rows(lines: Iterable[str]) -> Iterable[tuple[int, Row]]:
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        missing = [name for name in COLUMNS if name not in header]
        if missing:
            raise FileFormatError(f"line 1: lacks the column {', '.join(missing)}")
        for values in reader:
            if values and len(values) != len(header):
                raise FileFormatError(
                    f"line {reader.line_num}: has {len(values)} values where the header has {len(header)}"
                )
            if values:
                yield reader.line_num, dict(zip(header, values, strict=True))
    except csv.Error as error:
        raise FileFormatError(f"line {reader.line_num}: is not CSV ({error})") from error


def _order(row: Row, invoice: str, number: int) -> Order:
    order: Order = {
        "schemaVersion": 1,
        "type": "OrderPlaced",
        "orderId": invoice,
        "operationId": invoice,
        "sequence": 1,
        "occurredAt": _utc_time(row["InvoiceDate"], number),
        "currency": "GBP",
    }
    return order | ({"customerId": row["Customer ID"]} if row["Customer ID"] else {})


def _line(row: Row, number: int) -> Json:
    if not row["StockCode"]:
        raise _fault(number, "StockCode", "must not be empty")
    quantity = int(_matching(row, "Quantity", _QUANTITY, "an integer", number))
    if quantity == 0:
        raise _fault(number, "Quantity", "must not be 0")
    description: dict[str, Json] = {"description": row["Description"]} if row["Description"] else {}
    price = _matching(row, "Price", _PRICE, "a decimal such as 6.95, with at most 6 digits after the point", number)
    return {"sku": row["StockCode"], **description, "quantity": quantity, "unitPrice": price}


def _utc_time(text: str, number: int) -> str:
    try:
        moment = datetime.strptime(text, "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC)
    except ValueError as error:
        raise _fault(number, "InvoiceDate", f"must be month/day/year hour:minute:second; got {text!r}") from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _matching(row: Row, column: str, rule: re.Pattern[str], wording: str, number: int) -> str:
    if not rule.fullmatch(row[column]):
        raise _fault(number, column, f"must be {wording}; got {row[column]!r}")
    return row[column]


def _fault(number: int, column: str, rule: str) -> FileFormatError:
    return FileFormatError(f"line {number}, column {column}: {rule}")
