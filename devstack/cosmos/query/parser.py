"""Text of a query to its syntax tree."""

from typing import Final

from devstack.cosmos.errors import bad_request
from devstack.cosmos.query.expressions import ExpressionParser
from devstack.cosmos.query.lexer import TokenKind
from devstack.cosmos.query.syntax import (
    Expression,
    Literal,
    OrderBy,
    Parameter,
    Property,
    Query,
    SelectAll,
    SelectCount,
    SelectFields,
    Selection,
    SelectValue,
)
from devstack.cosmos.query.token_stream import TokenStream

_UNSUPPORTED: Final = ("DISTINCT", "GROUP", "JOIN")
_CLAUSES: Final = ("WHERE", "ORDER", "OFFSET")


def parse_query(text: str) -> Query:
    """Read a query of the supported subset.

    Raises:
        CosmosError: 400 that names the place or the word that is not supported.
    """
    alias = _find_alias(TokenStream(text))
    tokens = TokenStream(text)
    expressions = ExpressionParser(tokens, alias)
    tokens.expect_keyword("SELECT")
    _refuse_unsupported(tokens)
    top = _count(tokens) if tokens.accept_keyword("TOP") else None
    selection = _selection(tokens, expressions, alias)
    _from_clause(tokens)
    _refuse_unsupported(tokens)
    where = expressions.expression() if tokens.accept_keyword("WHERE") else None
    _refuse_unsupported(tokens)
    order_by = _order_by(tokens, expressions) if tokens.accept_keyword("ORDER") else None
    offset, limit = _offset_limit(tokens) if tokens.accept_keyword("OFFSET") else (Literal(0), None)
    tokens.take(TokenKind.END)
    if top is not None and limit is not None:
        raise bad_request("A query cannot have both TOP and OFFSET LIMIT.")
    if isinstance(selection, SelectCount) and (order_by or top or limit):
        raise bad_request("COUNT cannot be combined with TOP, ORDER BY or OFFSET LIMIT.")
    return Query(selection, where, order_by, offset, top or limit)


def _find_alias(tokens: TokenStream) -> str:
    """Look ahead for FROM, because the selection before it already uses the alias."""
    tokens.expect_keyword("SELECT")
    while not tokens.at_keyword("FROM"):
        if tokens.current.kind is TokenKind.END:
            raise bad_request("The query has no FROM; the supported subset needs one.")
        tokens.take(tokens.current.kind)
    return _from_clause(tokens)


def _from_clause(tokens: TokenStream) -> str:
    tokens.expect_keyword("FROM")
    name = tokens.take(TokenKind.NAME).text
    if tokens.accept_keyword("AS"):
        return tokens.take(TokenKind.NAME).text
    plain = tokens.current.kind is TokenKind.NAME
    if plain and not any(tokens.at_keyword(word) for word in (*_CLAUSES, *_UNSUPPORTED)):
        return tokens.take(TokenKind.NAME).text
    return name


def _refuse_unsupported(tokens: TokenStream) -> None:
    for word in _UNSUPPORTED:
        if tokens.at_keyword(word):
            raise bad_request(f"{word} is not supported by the local emulator.")


def _selection(tokens: TokenStream, expressions: ExpressionParser, alias: str) -> Selection:
    if tokens.accept_symbol("*"):
        return SelectAll()
    if tokens.accept_keyword("VALUE"):
        if tokens.at_keyword("COUNT"):
            return SelectCount(_counted(tokens, expressions), None)
        return SelectValue(expressions.expression())
    if tokens.at_keyword("COUNT"):
        counted = _counted(tokens, expressions)
        return SelectCount(counted, _alias(tokens) or "$1")
    fields: list[tuple[str, Expression]] = []
    while True:
        value = expressions.expression()
        fields.append((_alias(tokens) or _default_name(value, len(fields), alias), value))
        if not tokens.accept_symbol(","):
            break
    names = [name for name, _ in fields]
    if len(set(names)) < len(names):
        raise bad_request("Two fields of the selection have the same name; name one with AS.")
    return SelectFields(tuple(fields))


def _counted(tokens: TokenStream, expressions: ExpressionParser) -> Expression:
    tokens.expect_keyword("COUNT")
    tokens.expect_symbol("(")
    counted = expressions.expression()
    tokens.expect_symbol(")")
    return counted


def _alias(tokens: TokenStream) -> str | None:
    return tokens.take(TokenKind.NAME).text if tokens.accept_keyword("AS") else None


def _default_name(value: Expression, index: int, alias: str) -> str:
    if not isinstance(value, Property):
        return f"${index + 1}"
    if value.path:
        last = value.path[-1]
        return last if isinstance(last, str) else f"${index + 1}"
    # SELECT c FROM c answers {"c": document}.
    return alias


def _order_by(tokens: TokenStream, expressions: ExpressionParser) -> OrderBy:
    tokens.expect_keyword("BY")
    key = expressions.property_path()
    if not key.path:
        raise bad_request("ORDER BY needs a property path.")
    descending = tokens.accept_keyword("DESC")
    if not descending:
        tokens.accept_keyword("ASC")
    if tokens.accept_symbol(","):
        raise bad_request("ORDER BY several properties needs a composite index; the topology declares none.")
    return OrderBy(key, descending)


def _offset_limit(tokens: TokenStream) -> tuple[Literal | Parameter, Literal | Parameter]:
    offset = _count(tokens)
    tokens.expect_keyword("LIMIT")
    return offset, _count(tokens)


def _count(tokens: TokenStream) -> Literal | Parameter:
    if tokens.current.kind is TokenKind.PARAMETER:
        return Parameter(tokens.take(TokenKind.PARAMETER).text)
    number = tokens.take(TokenKind.NUMBER).text
    if not number.isdigit() or len(number) > 9:
        raise bad_request(f"{number}: TOP, OFFSET and LIMIT take a whole number from 0.")
    return Literal(int(number))
