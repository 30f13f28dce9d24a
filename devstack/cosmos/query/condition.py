"""The condition of a patch: ``from c where c.status = 'ready'``."""

from devstack.cosmos.query.expressions import ExpressionParser
from devstack.cosmos.query.lexer import TokenKind
from devstack.cosmos.query.syntax import Expression
from devstack.cosmos.query.token_stream import TokenStream


def parse_condition(text: str) -> Expression:
    """Read a patch condition.

    Raises:
        CosmosError: 400 that says where the text is wrong.
    """
    tokens = TokenStream(text)
    tokens.expect_keyword("FROM")
    alias = tokens.take(TokenKind.NAME).text
    tokens.expect_keyword("WHERE")
    condition = ExpressionParser(tokens, alias).expression()
    tokens.take(TokenKind.END)
    return condition
