"""Tokens to expressions: ``OR`` binds weakest, then ``AND``, ``NOT``, comparisons and ``IN``."""

from typing import Final

from devstack.cosmos.errors import bad_request
from devstack.cosmos.json_values import stored_number
from devstack.cosmos.query.lexer import TokenKind
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
)
from devstack.cosmos.query.token_stream import TokenStream

NESTING_MAX: Final = 100

_CONSTANTS: Final = {
    "TRUE": Literal(True),
    "FALSE": Literal(False),
    "NULL": Literal(None),
    "UNDEFINED": Literal(UNDEFINED),
}
_ARGUMENTS: Final = {
    Function.IS_DEFINED: (1, 1),
    Function.STARTS_WITH: (2, 3),
    Function.ARRAY_CONTAINS: (2, 3),
}


class ExpressionParser:
    """Recursive descent over a token stream; ``alias`` is the name that FROM gives the document."""

    def __init__(self, tokens: TokenStream, alias: str) -> None:
        self._tokens = tokens
        self._alias = alias
        self._depth = 0

    def expression(self) -> Expression:
        """Read an expression.

        Raises:
            CosmosError: 400 that says where the text leaves the supported subset.
        """
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise bad_request(f"The query nests expressions more than {NESTING_MAX} deep.")
        left = self._conjunction()
        while self._tokens.accept_keyword("OR"):
            left = Or(left, self._conjunction())
        self._depth -= 1
        return left

    def property_path(self) -> Property:
        """Read a path from the alias, such as ``c.lines[0].sku`` or ``c["status"]``."""
        name = self._tokens.take(TokenKind.NAME)
        if name.text != self._alias:
            raise bad_request(f"Identifier {name.text!r} could not be resolved; FROM names {self._alias!r}.")
        path: list[str | int] = []
        while True:
            if self._tokens.accept_symbol("."):
                path.append(self._tokens.take(TokenKind.NAME).text)
            elif self._tokens.accept_symbol("["):
                path.append(self._subscript())
                self._tokens.expect_symbol("]")
            else:
                return Property(tuple(path))

    def _subscript(self) -> str | int:
        if self._tokens.current.kind is TokenKind.STRING:
            return self._tokens.take(TokenKind.STRING).text
        number = self._tokens.take(TokenKind.NUMBER)
        if not number.text.isdigit() or len(number.text) > 9:
            raise bad_request(f"[{number.text}]: an array index must be a whole number from 0.")
        return int(number.text)

    def _conjunction(self) -> Expression:
        left = self._negation()
        while self._tokens.accept_keyword("AND"):
            left = And(left, self._negation())
        return left

    def _negation(self) -> Expression:
        negations = 0
        while self._tokens.accept_keyword("NOT"):
            negations += 1
        operand = self._comparison()
        for _ in range(negations):
            operand = Not(operand)
        return operand

    def _comparison(self) -> Expression:
        left = self._operand()
        if self._tokens.accept_keyword("NOT"):
            self._tokens.expect_keyword("IN")
            return Not(self._choices(left))
        if self._tokens.accept_keyword("IN"):
            return self._choices(left)
        for operator in ComparisonOperator:
            if self._tokens.accept_symbol(operator):
                return Comparison(operator, left, self._operand())
        if self._tokens.accept_symbol("<>"):
            return Comparison(ComparisonOperator.NOT_EQUAL, left, self._operand())
        return left

    def _choices(self, operand: Expression) -> In:
        self._tokens.expect_symbol("(")
        return In(operand, self._list_to_close())

    def _list_to_close(self) -> tuple[Expression, ...]:
        members = [self.expression()]
        while self._tokens.accept_symbol(","):
            members.append(self.expression())
        self._tokens.expect_symbol(")")
        return tuple(members)

    def _operand(self) -> Expression:
        token = self._tokens.current
        if self._tokens.accept_symbol("("):
            inner = self.expression()
            self._tokens.expect_symbol(")")
            return inner
        match token.kind:
            case TokenKind.STRING:
                return Literal(self._tokens.take(TokenKind.STRING).text)
            case TokenKind.NUMBER:
                return Literal(stored_number(float(self._tokens.take(TokenKind.NUMBER).text)))
            case TokenKind.PARAMETER:
                return Parameter(self._tokens.take(TokenKind.PARAMETER).text)
            case TokenKind.NAME:
                return self._named()
            case _:
                raise self._tokens.error()

    def _named(self) -> Expression:
        word = self._tokens.current.text
        if word == self._alias:
            return self.property_path()
        if word.upper() in _CONSTANTS:
            self._tokens.take(TokenKind.NAME)
            return _CONSTANTS[word.upper()]
        try:
            function = Function(word.upper())
        except ValueError as error:
            raise bad_request(
                f"{word!r} is not supported here; functions of the subset are {', '.join(Function)}."
            ) from error
        self._tokens.take(TokenKind.NAME)
        self._tokens.expect_symbol("(")
        arguments = self._list_to_close()
        least, most = _ARGUMENTS[function]
        if not least <= len(arguments) <= most:
            raise bad_request(f"{function} takes {least} to {most} arguments, not {len(arguments)}.")
        return Call(function, arguments)
