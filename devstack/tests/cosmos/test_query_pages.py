import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.json_values import Json, JsonObject, read_json
from devstack.cosmos.query.indexing import require_indexed
from devstack.cosmos.query.pages import PageRequest, Row, run_query
from devstack.cosmos.query.parser import parse_query
from devstack.cosmos.query.syntax import OrderBy, Property
from devstack.cosmos.topology import Indexing


def rows(*documents: JsonObject) -> list[Row]:
    return [Row(number, document) for number, document in enumerate(documents, start=1)]


def pages(sql: str, data: list[Row], count_max: int, **parameters: Json) -> list[list[Json]]:
    """All pages, each result read back; a query that never ends fails."""
    query, result = parse_query(sql), []
    named = {f"@{name}": value for name, value in parameters.items()}
    request = PageRequest("q", count_max)
    for _ in range(len(data) + 2):
        page = run_query(query, named, data, request)
        result.append([read_json(body) for body in page.results])
        if page.continuation is None:
            return result
        request = PageRequest("q", count_max, page.continuation)
    raise AssertionError("the query does not end")


NUMBERS = [Row(number, {"n": n}) for number, n in enumerate((3, 1, 2, 1, 5), start=1)]


@pytest.mark.parametrize(
    ("sql", "count_max", "expected"),
    [
        ("SELECT VALUE c.n FROM c", 2, [[3, 1], [2, 1], [5]]),
        ("SELECT VALUE c.n FROM c", 5, [[3, 1, 2, 1, 5]]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n", 2, [[1, 1], [2, 3], [5]]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", 3, [[5, 3, 2], [1, 1]]),
        ("SELECT TOP 3 VALUE c.n FROM c", 2, [[3, 1], [2]]),
        ("SELECT TOP 2 VALUE c.n FROM c", 2, [[3, 1]]),
        ("SELECT TOP 0 VALUE c.n FROM c", 2, [[]]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 1 LIMIT 3", 2, [[1, 2], [3]]),
        ("SELECT VALUE c.n FROM c OFFSET 4 LIMIT 9", 1, [[5]]),
        ("SELECT VALUE c.n FROM c OFFSET 9 LIMIT 9", 1, [[]]),
        ("SELECT VALUE c.n FROM c WHERE c.n > 2", 1, [[3], [5]]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n = 1", 1, [[2]]),
        ("SELECT COUNT(c.m) AS found FROM c", 1, [[{"found": 0}]]),
        ("SELECT c.n, c.m FROM c WHERE c.n = 5", 1, [[{"n": 5}]]),
        ("SELECT VALUE c.m FROM c", 9, [[]]),
        ("SELECT c FROM c WHERE c.n = 5", 9, [[{"c": {"n": 5}}]]),
    ],
)
def test_pages_worked_out_by_hand(sql: str, count_max: int, expected: list[list[Json]]) -> None:
    assert pages(sql, NUMBERS, count_max) == expected


def test_counts_may_be_parameters() -> None:
    sql = "SELECT VALUE c.n FROM c OFFSET @skip LIMIT @take"
    assert pages(sql, NUMBERS, 9, skip=1, take=2) == [[1, 2]]
    with pytest.raises(CosmosError, match="whole number"):
        pages(sql, NUMBERS, 9, skip=-1, take=2)


def test_types_sort_in_the_documented_sequence() -> None:
    values: list[Json] = [{"a": 1}, [1], "a", 1, True, False, None]
    data = rows(*[{"n": value} for value in values], {"m": "no n"})
    found = pages("SELECT VALUE c FROM c ORDER BY c.n", data, 1)
    assert [page[0] for page in found] == [{"m": "no n"}, *({"n": value} for value in reversed(values))]


keys: st.SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(["", "a"]))


@given(
    st.lists(keys, max_size=12),
    st.integers(1, 5),
    st.sampled_from(["", " ORDER BY c.n", " ORDER BY c.n DESC"]),
    st.integers(0, 4),
    st.integers(0, 12),
)
def test_pages_joined_are_one_page_of_any_size(
    values: list[Json], count_max: int, order: str, offset: int, limit: int
) -> None:
    data = rows(*[{"n": value, "at": at} for at, value in enumerate(values)])
    sql = f"SELECT VALUE c.at FROM c{order} OFFSET {offset} LIMIT {limit}"  # noqa: S608 - no database behind it
    (whole,) = pages(sql, data, 100)
    parts = pages(sql, data, count_max)
    assert [value for part in parts for value in part] == whole
    assert len(whole) == max(0, min(limit, len(values) - offset))
    assert all(len(part) <= count_max for part in parts)
    if order == "":
        assert whole == list(range(len(values)))[offset : offset + limit]


def test_items_that_go_between_two_pages_hide_no_others() -> None:
    query = parse_query("SELECT VALUE c.n FROM c")
    first = run_query(query, {}, NUMBERS, PageRequest("q", 2))
    remaining = NUMBERS[1:]
    rest = run_query(query, {}, remaining, PageRequest("q", 9, first.continuation))
    assert [read_json(body) for body in rest.results] == [2, 1, 5]


@pytest.mark.parametrize("token", ["x", "!", "e30=", "eyJxIjoib3RoZXIiLCJrIjpbMCwwXSwibiI6MSwibSI6MX0="])
def test_a_foreign_continuation_is_400(token: str) -> None:
    with pytest.raises(CosmosError, match="continuation") as refused:
        run_query(parse_query("SELECT * FROM c"), {}, NUMBERS, PageRequest("q", 1, token))
    assert refused.value.status == 400


def test_a_page_ends_at_four_megabytes() -> None:
    data = [Row(number, {"text": "x" * 1_500_000}) for number in range(4)]
    sizes = [len(page) for page in pages("SELECT * FROM c", data, 100)]
    assert sizes == [3, 1]


@pytest.mark.parametrize(
    ("path", "included", "excluded", "indexed"),
    [
        (("n",), (), (), True),
        (("n",), (), ("/*",), False),
        (("n",), ("/n/?",), ("/*",), True),
        (("n", "m"), ("/n/?",), ("/*",), False),
        (("n", "m"), ("/n/*",), ("/*",), True),
        (("n", "m"), ("/*",), ("/n/*",), False),
        (("n", "m"), ("/n/m/?",), ("/n/*",), True),
        (("id",), (), ("/*",), True),
        (("_ts",), (), ("/*",), True),
        (("_etag",), (), ("/*",), False),
    ],
)
def test_order_by_needs_an_index(
    path: tuple[str, ...], included: tuple[str, ...], excluded: tuple[str, ...], indexed: bool
) -> None:
    order_by, indexing = OrderBy(Property(path), descending=False), Indexing(included, excluded)
    if indexed:
        require_indexed(order_by, indexing)
    else:
        with pytest.raises(CosmosError, match="excluded"):
            require_indexed(order_by, indexing)
