import pytest

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.query.parser import parse_query
from devstack.cosmos.query.syntax import (
    And,
    Call,
    Comparison,
    ComparisonOperator,
    Function,
    In,
    Literal,
    Not,
    Or,
    OrderBy,
    Parameter,
    Property,
    Query,
    SelectAll,
    SelectCount,
    SelectFields,
    SelectValue,
)

A, B, C = Property(("a",)), Property(("b",)), Property(("c",))


def where(text: str) -> object:
    return parse_query(f"SELECT * FROM c WHERE {text}").where  # noqa: S608 - no database behind it


def test_the_smallest_query() -> None:
    assert parse_query("SELECT * FROM c") == Query(SelectAll(), None, None, Literal(0), None)


def test_a_whole_query_in_any_case_with_comments_and_lines() -> None:
    query = parse_query(
        "select value o.id -- the id\nfrom orders as o where o.n >= @least order by o.n desc offset 5 limit @count"
    )
    assert query == Query(
        SelectValue(Property(("id",))),
        Comparison(ComparisonOperator.GREATER_OR_EQUAL, Property(("n",)), Parameter("@least")),
        OrderBy(Property(("n",)), descending=True),
        Literal(5),
        Parameter("@count"),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT c.id, c.n AS number FROM c", ("id", "number")),
        ("SELECT c FROM c", ("c",)),
        ("SELECT r.a.b, r['x y'], r.list[0], 1 FROM root r", ("b", "x y", "$3", "$4")),
    ],
)
def test_names_of_fields(text: str, names: tuple[str, ...]) -> None:
    selection = parse_query(text).selection
    assert isinstance(selection, SelectFields)
    assert tuple(name for name, _ in selection.fields) == names


def test_counts() -> None:
    assert parse_query("SELECT VALUE COUNT(1) FROM c").selection == SelectCount(Literal(1), None)
    assert parse_query("SELECT COUNT(c.a) FROM c").selection == SelectCount(A, "$1")
    assert parse_query("SELECT COUNT(1) AS n FROM c").selection == SelectCount(Literal(1), "n")


def test_top_is_a_limit() -> None:
    assert parse_query("SELECT TOP 3 * FROM c").limit == Literal(3)


def test_precedence() -> None:
    assert where("c.a OR c.b AND NOT c.c") == Or(A, And(B, Not(C)))
    assert where("(c.a OR c.b) AND c.c") == And(Or(A, B), C)
    assert where("NOT c.a = 1") == Not(Comparison(ComparisonOperator.EQUAL, A, Literal(1)))
    assert where("c.a NOT IN (1)") == Not(In(A, (Literal(1),)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it\\'s'", "it's"),
        ('"say \\"x\\""', 'say "x"'),
        ("'\\u00e9\\n'", "é\n"),
        ("'-- no comment'", "-- no comment"),
        ("-1.5e1", -15),
        (".5", 0.5),
        ("true", True),
        ("NULL", None),
    ],
)
def test_literals(text: str, value: object) -> None:
    assert where(f"c.a = {text}") == Comparison(ComparisonOperator.EQUAL, A, Literal(value))  # type: ignore[arg-type]


def test_functions_and_paths() -> None:
    assert where("startswith(c.a, 'x', true)") == Call(Function.STARTS_WITH, (A, Literal("x"), Literal(True)))
    assert where('c["a b"].c[2]') == Property(("a b", "c", 2))
    assert where("c.a <> 1") == Comparison(ComparisonOperator.NOT_EQUAL, A, Literal(1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Syntax error"),
        ("DELETE FROM c", "Syntax error"),
        ("SELECT *", "no FROM"),
        ("SELECT * FROM", "Syntax error"),
        ("SELECT FROM c", "not supported"),
        ("SELECT * FROM c WHERE", "Syntax error"),
        ("SELECT * FROM c WHERE d.a = 1", "not supported"),
        ("SELECT d.a FROM c", "not supported"),
        ("SELECT * FROM c WHERE c.a = 'open", "Syntax error"),
        ("SELECT * FROM c WHERE c.a ; 1", "Syntax error"),
        ("SELECT * FROM c WHERE c.a = 1 c.b", "Syntax error"),
        ("SELECT * FROM c WHERE c.a IN ()", "Syntax error"),
        ("SELECT * FROM c WHERE c.a[-1] = 1", "array index"),
        ("SELECT * FROM c WHERE LOWER(c.a) = 'x'", "not supported"),
        ("SELECT * FROM c WHERE IS_DEFINED(c.a, c.b)", "arguments"),
        ("SELECT * FROM c WHERE " + "(" * 200 + "c.a" + ")" * 200, "deep"),
        ("SELECT DISTINCT c.a FROM c", "DISTINCT is not supported"),
        ("SELECT c.a FROM c GROUP BY c.a", "GROUP is not supported"),
        ("SELECT * FROM c JOIN l IN c.lines", "JOIN is not supported"),
        ("SELECT * FROM c ORDER BY c.a, c.b", "composite index"),
        ("SELECT * FROM c ORDER BY c", "property path"),
        ("SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", "both TOP and OFFSET"),
        ("SELECT TOP -1 * FROM c", "whole number"),
        ("SELECT * FROM c OFFSET 1.5 LIMIT 1", "whole number"),
        ("SELECT * FROM c OFFSET 1", "Syntax error"),
        ("SELECT TOP 1 VALUE COUNT(1) FROM c", "COUNT cannot"),
        ("SELECT VALUE MAX(c.a) FROM c", "not supported"),
        ("SELECT c.a, c.b AS a FROM c", "same name"),
        ("SELECT * FROM c WHERE c.a = 1e999", "too large"),
        ("SELECT * FROM c -- " + "x" * 300_000, "longer than"),
    ],
)
def test_what_is_outside_the_subset_is_400(text: str, words: str) -> None:
    with pytest.raises(CosmosError, match=words) as refused:
        parse_query(text)
    assert refused.value.status == 400
