"""Values of expressions over one document.

Undefined spreads: a comparison with it, or an order between values of different types, is undefined, and a
row passes WHERE only if the condition is true. Source: the offline query engine in the tests of
Microsoft.Azure.Cosmos (``ScalarExpressionEvaluator``) and "Logical operators in Azure Cosmos DB".
"""

from collections.abc import Mapping
from typing import assert_never

from devstack.cosmos.errors import bad_request
from devstack.cosmos.json_values import Json, JsonObject, is_number
from devstack.cosmos.query.syntax import (
    UNDEFINED,
    And,
    Call,
    Comparison,
    ComparisonOperator,
    Expression,
    Function,
    In,
    Literal,
    Not,
    Or,
    Parameter,
    Property,
    Undefined,
)

type Value = Json | Undefined
type Parameters = Mapping[str, Json]


def is_true(condition: Expression, document: JsonObject, parameters: Parameters) -> bool:
    """Whether a document satisfies a condition: the value true, and nothing that is merely not false.

    Raises:
        CosmosError: 400, if the condition names a parameter that the request lacks.
    """
    return evaluate(condition, document, parameters) is True


def evaluate(expression: Expression, document: JsonObject, parameters: Parameters) -> Value:
    """The value of an expression.

    Raises:
        CosmosError: 400, if it names a parameter that the request lacks.
    """
    match expression:
        case Literal(value=value):
            return value
        case Parameter(name=name):
            return parameter_value(name, parameters)
        case Property(path=path):
            return property_value(document, path)
        case Comparison(operator=operator, left=left, right=right):
            return _compare(operator, evaluate(left, document, parameters), evaluate(right, document, parameters))
        case And(left=left, right=right):
            return _junction(
                evaluate(left, document, parameters), evaluate(right, document, parameters), decisive=False
            )
        case Or(left=left, right=right):
            return _junction(evaluate(left, document, parameters), evaluate(right, document, parameters), decisive=True)
        case Not(operand=operand):
            value = evaluate(operand, document, parameters)
            return (not value) if isinstance(value, bool) else UNDEFINED
        case In(operand=operand, choices=choices):
            return _in(
                evaluate(operand, document, parameters),
                [evaluate(choice, document, parameters) for choice in choices],
            )
        case Call(function=function, arguments=arguments):
            return _call(function, [evaluate(argument, document, parameters) for argument in arguments])
        case _:
            assert_never(expression)


def parameter_value(name: str, parameters: Parameters) -> Json:
    """The value that came with the query under that name.

    Raises:
        CosmosError: 400, if none did.
    """
    if name not in parameters:
        raise bad_request(f"The query names parameter {name}, and the request has no value for it.")
    return parameters[name]


def property_value(document: JsonObject, path: tuple[str | int, ...]) -> Value:
    """The value at a path; undefined, if there is none."""
    value: Json = document
    for name in path:
        match value:
            case dict() if isinstance(name, str) and name in value:
                value = value[name]
            case list() if isinstance(name, int) and name < len(value):
                value = value[name]
            case _:
                return UNDEFINED
    return value


def equal(left: Json, right: Json) -> bool:
    """JSON equality: values of different types differ, also true and 1, which Python holds to be equal."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _compare(operator: ComparisonOperator, left: Value, right: Value) -> Value:
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return UNDEFINED
    match operator:
        case ComparisonOperator.EQUAL:
            return equal(left, right)
        case ComparisonOperator.NOT_EQUAL:
            return not equal(left, right)
    order = _order(left, right)
    if order is None:
        return UNDEFINED
    match operator:
        case ComparisonOperator.LESS:
            return order < 0
        case ComparisonOperator.LESS_OR_EQUAL:
            return order <= 0
        case ComparisonOperator.GREATER:
            return order > 0
        case ComparisonOperator.GREATER_OR_EQUAL:
            return order >= 0
        case _:
            assert_never(operator)


def _order(left: Json, right: Json) -> int | None:
    """Negative, zero or positive for two primitives of one type; None for all else."""
    if is_number(left) and is_number(right):
        return (left > right) - (left < right)
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if isinstance(left, bool) and isinstance(right, bool):
        return left - right
    if left is None and right is None:
        return 0
    return None


def _junction(left: Value, right: Value, *, decisive: bool) -> Value:
    """AND (decided by a false) and OR (decided by a true): the decisive value outweighs undefined."""
    if left is decisive or right is decisive:
        return decisive
    return not decisive if isinstance(left, bool) and isinstance(right, bool) else UNDEFINED


def _in(operand: Value, choices: list[Value]) -> Value:
    result: Value = False
    for choice in choices:
        result = _junction(result, _compare(ComparisonOperator.EQUAL, operand, choice), decisive=True)
    return result


def _call(function: Function, arguments: list[Value]) -> Value:
    match function:
        case Function.IS_DEFINED:
            return not isinstance(arguments[0], Undefined)
        case Function.STARTS_WITH:
            return _starts_with(arguments)
        case Function.ARRAY_CONTAINS:
            return _array_contains(arguments)
        case _:
            assert_never(function)


def _starts_with(arguments: list[Value]) -> Value:
    text, prefix = arguments[0], arguments[1]
    if not isinstance(text, str) or not isinstance(prefix, str):
        return UNDEFINED
    if len(arguments) == 3 and arguments[2] is True:
        return text.casefold().startswith(prefix.casefold())
    return text.startswith(prefix)


def _array_contains(arguments: list[Value]) -> Value:
    array, wanted = arguments[0], arguments[1]
    if not isinstance(array, list) or isinstance(wanted, Undefined):
        return UNDEFINED
    partial = len(arguments) == 3 and arguments[2] is True
    return any(_contains(member, wanted) if partial else equal(member, wanted) for member in array)


def _contains(member: Json, wanted: Json) -> bool:
    """Whether a member holds all that is wanted; the rest of an object is free."""
    if isinstance(member, dict) and isinstance(wanted, dict):
        return all(name in member and _contains(member[name], value) for name, value in wanted.items())
    return equal(member, wanted)
