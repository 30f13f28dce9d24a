"""The syntax tree of a query."""

from dataclasses import dataclass
from enum import StrEnum

from devstack.cosmos.json_values import Json


@dataclass(frozen=True, slots=True)
class Undefined:
    """The value of a property that is not there; neither null nor equal to anything."""


UNDEFINED = Undefined()


class ComparisonOperator(StrEnum):
    """Operators between two values."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


class Function(StrEnum):
    """The functions of the subset."""

    IS_DEFINED = "IS_DEFINED"
    STARTS_WITH = "STARTSWITH"
    ARRAY_CONTAINS = "ARRAY_CONTAINS"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Json | Undefined


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that comes with the query; the name includes its ``@``."""

    name: str


@dataclass(frozen=True, slots=True)
class Property:
    """A path from the document; the empty path is the document."""

    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class In:
    """``operand IN (choices)``."""

    operand: "Expression"
    choices: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function call."""

    function: Function
    arguments: tuple["Expression", ...]


type Expression = Literal | Parameter | Property | Comparison | And | Or | Not | In | Call


@dataclass(frozen=True, slots=True)
class SelectAll:
    """``SELECT *``: the whole document."""


@dataclass(frozen=True, slots=True)
class SelectValue:
    """``SELECT VALUE expression``; rows whose value is undefined are left out."""

    value: Expression


@dataclass(frozen=True, slots=True)
class SelectFields:
    """``SELECT a, b AS name``: an object per row, without its undefined fields."""

    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class SelectCount:
    """``COUNT(expression)``: how many rows have it defined; ``name`` None for ``SELECT VALUE COUNT(..)``."""

    counted: Expression
    name: str | None


type Selection = SelectAll | SelectValue | SelectFields | SelectCount


@dataclass(frozen=True, slots=True)
class OrderBy:
    """``ORDER BY property [DESC]``."""

    key: Property
    descending: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query; ``offset`` and ``limit`` may be parameters, and ``TOP n`` is a limit."""

    selection: Selection
    where: Expression | None
    order_by: OrderBy | None
    offset: Literal | Parameter
    limit: Literal | Parameter | None
