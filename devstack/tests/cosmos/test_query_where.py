"""WHERE against a plain oracle: the same random condition as SQL text and as Python."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.json_values import Json, JsonObject, write_json
from devstack.cosmos.query.evaluate import is_true
from devstack.cosmos.query.parser import parse_query


class Missing:
    """The oracle's own undefined."""


MISSING = Missing()

type Meaning = Callable[[JsonObject], object]


@dataclass(frozen=True)
class Condition:
    """SQL with its meaning; ``binding`` is 0 for OR, 1 for AND, 2 for all that binds tighter."""

    sql: str
    meaning: Meaning
    binding: int = 2

    def inside(self, binding: int) -> str:
        return f"({self.sql})" if self.binding < binding else self.sql


def kind(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case _:
            return type(value).__name__


def compare(symbol: str, left: object, right: object) -> object:
    if left is MISSING or right is MISSING:
        return MISSING
    same_kind = kind(left) == kind(right)
    if symbol in ("=", "!="):
        return (same_kind and left == right) is (symbol == "=")
    if not same_kind or kind(left) in ("list", "dict"):
        return MISSING
    if left is None:
        return symbol in ("<=", ">=")
    functions: dict[str, Callable[..., bool]] = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
    return functions[symbol](left, right)


def negate(value: object) -> object:
    return not value if isinstance(value, bool) else MISSING


def both(left: object, right: object) -> object:
    if left is False or right is False:
        return False
    return True if left is True and right is True else MISSING


def either(left: object, right: object) -> object:
    return negate(both(negate(left), negate(right)))


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1.5]), st.sampled_from(["", "a", "ab", "b"])
)
fields = st.sampled_from(["a", "b", "list"])
documents: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {}, optional={"a": scalars, "b": scalars, "list": st.lists(scalars, max_size=3)}
)


def sql_literal(value: Json) -> str:
    return write_json(value).decode()


@st.composite
def operands(draw: st.DrawFn) -> Condition:
    if draw(st.booleans()):
        value = draw(scalars)
        return Condition(sql_literal(value), lambda _: value)
    name = draw(fields)
    return Condition(draw(st.sampled_from([f"c.{name}", f'c["{name}"]'])), lambda document: document.get(name, MISSING))


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    left, right = draw(operands()), draw(operands())
    symbol = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    return Condition(
        f"{left.sql} {symbol} {right.sql}",
        lambda document: compare(symbol, left.meaning(document), right.meaning(document)),
    )


@st.composite
def memberships(draw: st.DrawFn) -> Condition:
    left, choices = draw(operands()), draw(st.lists(operands(), min_size=1, max_size=3))

    def meaning(document: JsonObject) -> object:
        value = left.meaning(document)
        results = [compare("=", value, choice.meaning(document)) for choice in choices]
        if True in [result is True for result in results]:
            return True
        return MISSING if MISSING in results else False

    return Condition(f"{left.sql} in ({', '.join(choice.sql for choice in choices)})", meaning)


@st.composite
def calls(draw: st.DrawFn) -> Condition:
    name = draw(fields)
    argument = draw(scalars)
    match draw(st.sampled_from(["IS_DEFINED", "STARTSWITH", "ARRAY_CONTAINS"])):
        case "IS_DEFINED":
            return Condition(f"IS_DEFINED(c.{name})", lambda document: name in document)
        case "STARTSWITH":

            def starts(document: JsonObject) -> object:
                value = document.get(name)
                both_text = isinstance(value, str) and isinstance(argument, str)
                return str(value).startswith(str(argument)) if both_text else MISSING

            return Condition(f"STARTSWITH(c.{name}, {sql_literal(argument)})", starts)
        case _:

            def contains(document: JsonObject) -> object:
                value = document.get(name)
                if not isinstance(value, list):
                    return MISSING
                return any(compare("=", member, argument) is True for member in value)

            return Condition(f"ARRAY_CONTAINS(c.{name}, {sql_literal(argument)})", contains)


def combine(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    def negation(part: Condition) -> Condition:
        return Condition(f"NOT {part.inside(2)}", lambda document: negate(part.meaning(document)))

    def conjunction(left: Condition, right: Condition) -> Condition:
        return Condition(
            f"{left.inside(1)} AND {right.inside(1)}",
            lambda document: both(left.meaning(document), right.meaning(document)),
            1,
        )

    def disjunction(left: Condition, right: Condition) -> Condition:
        return Condition(
            f"{left.inside(0)} or {right.inside(0)}",
            lambda document: either(left.meaning(document), right.meaning(document)),
            0,
        )

    return st.one_of(parts.map(negation), st.builds(conjunction, parts, parts), st.builds(disjunction, parts, parts))


conditions = st.recursive(st.one_of(operands(), comparisons(), memberships(), calls()), combine, max_leaves=8)


def passes(condition: str, document: JsonObject, **parameters: Json) -> bool:
    where = parse_query(f"SELECT * FROM c WHERE {condition}").where  # noqa: S608 - no database behind it
    assert where is not None
    return is_true(where, document, {f"@{name}": value for name, value in parameters.items()})


@given(conditions, documents)
def test_a_row_passes_exactly_if_the_oracle_says_true(condition: Condition, document: JsonObject) -> None:
    assert passes(condition.sql, document) is (condition.meaning(document) is True)


@pytest.mark.parametrize(
    ("condition", "passed"),
    [
        ("c.missing != 1", False),
        ("NOT c.missing = 1", False),
        ("c.missing = undefined", False),
        ("NOT IS_DEFINED(c.missing)", True),
        ("c.n = true", False),
        ("c.n != 'x'", True),
        ("c.n < 'x'", False),
        ("c.none = null", True),
        ("c.n", False),
        ("c.yes", True),
        ("c.lines[1].sku = 'b'", True),
        ("c.lines[2].sku = 'b'", False),
        ("c.lines = @lines", True),
        ("c.lines[0] = @first", True),
        ("ARRAY_CONTAINS(c.lines, @part)", False),
        ("ARRAY_CONTAINS(c.lines, @part, true)", True),
        ("ARRAY_CONTAINS(@skus, c.lines[0].sku)", True),
        ("STARTSWITH(c.text, 'AB')", False),
        ("STARTSWITH(c.text, 'AB', true)", True),
    ],
)
def test_cases_worked_out_by_hand(condition: str, passed: bool) -> None:
    lines: Json = [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]
    document: JsonObject = {"n": 1, "none": None, "yes": True, "lines": lines, "text": "abc"}
    first: Json = {"n": 1, "sku": "a"}
    assert passes(condition, document, lines=lines, first=first, part={"sku": "b"}, skus=["a"]) is passed


def test_a_parameter_without_a_value_is_400() -> None:
    with pytest.raises(CosmosError, match="@n"):
        passes("c.n = @n", {"n": 1})
