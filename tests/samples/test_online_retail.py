from pathlib import Path

import pytest

from samples.online_retail import FileFormatError, Order, load_orders, read_orders
from samples.request_hash import Json

HEADER = "Invoice,StockCode,Description,Quantity,InvoiceDate,Price,Customer ID,Country\r\n"
SAMPLE = Path(__file__).parents[2] / "samples" / "orders.csv"


def rows(*lines: str) -> list[str]:
    return [HEADER, *(f"{line}\r\n" for line in lines)]


def test_an_invoice_is_an_order() -> None:
    found = read_orders(
        rows(
            '489434,22041,"RECORD FRAME 7"" SINGLE SIZE ",48,12/1/2009 7:45:00,2.1,13085,United Kingdom',
            "489435,71477,short,-240,12/31/2009 10:52:09,0,,United Kingdom",
            "489434,79323W, WHITE CHERRY LIGHTS,12,12/1/2009 7:45:00,6.75,13085,United Kingdom",
        )
    )
    assert found == [
        {
            "schemaVersion": 1,
            "type": "OrderPlaced",
            "orderId": "489434",
            "operationId": "489434",
            "sequence": 1,
            "occurredAt": "2009-12-01T07:45:00Z",
            "currency": "GBP",
            "customerId": "13085",
            "lines": [
                {
                    "sku": "22041",
                    "description": 'RECORD FRAME 7" SINGLE SIZE ',
                    "quantity": 48,
                    "unitPrice": "2.1",
                },
                {"sku": "79323W", "description": " WHITE CHERRY LIGHTS", "quantity": 12, "unitPrice": "6.75"},
            ],
        },
        {
            "schemaVersion": 1,
            "type": "OrderPlaced",
            "orderId": "489435",
            "operationId": "489435",
            "sequence": 1,
            "occurredAt": "2009-12-31T10:52:09Z",
            "currency": "GBP",
            "lines": [{"sku": "71477", "description": "short", "quantity": -240, "unitPrice": "0"}],
        },
    ]


def test_a_missing_description_is_left_out() -> None:
    (order,) = read_orders(rows("1,A,,1,12/1/2009 7:45:00,1,,France"))
    assert order["lines"] == [{"sku": "A", "quantity": 1, "unitPrice": "1"}]


def test_columns_may_stand_in_any_order_beside_others() -> None:
    header = "Country,Invoice,Note,StockCode,Description,Quantity,InvoiceDate,Price,Customer ID\n"
    (order,) = read_orders([header, "EIRE,7,x,A,B,1,1/2/2010 8:00:00,3,9\n"])
    assert (order["orderId"], order["occurredAt"], order["customerId"]) == ("7", "2010-01-02T08:00:00Z", "9")


@pytest.mark.parametrize(
    ("row", "place", "rule"),
    [
        ("1,A,d,0,12/1/2009 7:45:00,1,,F", "line 3, column Quantity", "must not be 0"),
        ("1,A,d,1.5,12/1/2009 7:45:00,1,,F", "line 3, column Quantity", "an integer; got '1.5'"),
        ("1,A,d,1,2009-12-01 07:45,1,,F", "line 3, column InvoiceDate", "month/day/year"),
        ("1,A,d,1,13/1/2009 7:45:00,1,,F", "line 3, column InvoiceDate", "month/day/year"),
        ("1,A,d,1,12/1/2009 7:45:00,1e3,,F", "line 3, column Price", "a decimal such as 6.95"),
        ("1,A,d,1,12/1/2009 7:45:00,,,F", "line 3, column Price", "got ''"),
        ("1,A,d,1,12/1/2009 7:45:00,\u0661,,F", "line 3, column Price", "a decimal"),
        ("1,,d,1,12/1/2009 7:45:00,1,,F", "line 3, column StockCode", "must not be empty"),
        ("a/b,A,d,1,12/1/2009 7:45:00,1,,F", "line 3, column Invoice", "letters, digits"),
        ("0,A,d,1,12/1/2009 7:45:00,1,8,F", "line 3, column Customer ID", "invoice 0 named another customer"),
        ("1,A,d,1", "line 3", "has 4 values where the header has 8"),
        ('1,"A"x,d,1,12/1/2009 7:45:00,1,,F', "line 3", "is not CSV"),
    ],
)
def test_a_fault_names_line_column_and_rule(row: str, place: str, rule: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_orders(rows("0,A,d,1,12/1/2009 7:45:00,1,7,F", row))
    assert place in str(caught.value)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "wording"),
    [
        ([], "line 1: lacks the column Invoice"),
        (["Invoice,StockCode\n"], "lacks the column Description, Quantity"),
        ([HEADER], "no orders"),
    ],
)
def test_a_file_without_columns_or_orders_is_refused(lines: list[str], wording: str) -> None:
    with pytest.raises(FileFormatError, match=wording):
        read_orders(lines)


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    file = tmp_path / "marked.csv"
    file.write_text("".join(rows("1,A,d,1,12/1/2009 7:45:00,1,,F")), encoding="utf-8-sig", newline="")
    assert len(load_orders(file)) == 1


def test_another_encoding_is_named(tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("".join(rows("1,A,CAFÉ,1,12/1/2009 7:45:00,1,,F")).encode("latin-1"))
    with pytest.raises(FileFormatError, match="save the file as UTF-8"):
        load_orders(file)


def test_the_sample_shows_every_oddity_of_the_format() -> None:
    orders = load_orders(SAMPLE)
    lines = [line for order in orders for line in _lines(order)]
    skus = [[line["sku"] for line in _lines(order)] for order in orders]
    assert len(orders) == 8
    assert any("customerId" not in order for order in orders)
    assert any(isinstance(line["quantity"], int) and line["quantity"] < 0 for line in lines)
    assert any(line["unitPrice"] == "0" for line in lines)
    assert any("description" not in line for line in lines)
    assert any(len(set(of_one)) < len(of_one) for of_one in skus)


def _lines(order: Order) -> list[dict[str, Json]]:
    lines = order["lines"]
    assert isinstance(lines, list)
    return [line for line in lines if isinstance(line, dict)]
