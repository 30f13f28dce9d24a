"""Reading tokens one after another."""

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.query.lexer import Token, TokenKind, syntax_error, tokenize


class TokenStream:
    """A cursor over a query's tokens; keywords are words without regard to case."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._next = 0

    @property
    def current(self) -> Token:
        """The token that was not read yet."""
        return self._tokens[self._next]

    def take(self, kind: TokenKind) -> Token:
        """Read a token of that kind.

        Raises:
            CosmosError: 400, if the current one is of another.
        """
        token = self.current
        if token.kind is not kind:
            raise self.error()
        self._next += 1
        return token

    def at_keyword(self, word: str) -> bool:
        """Whether the current token is that keyword."""
        return self.current.kind is TokenKind.NAME and self.current.text.upper() == word

    def accept_keyword(self, word: str) -> bool:
        """Read that keyword, if it is the current token."""
        if not self.at_keyword(word):
            return False
        self._next += 1
        return True

    def expect_keyword(self, word: str) -> None:
        """Read that keyword.

        Raises:
            CosmosError: 400, if it is not the current token.
        """
        if not self.accept_keyword(word):
            raise self.error()

    def accept_symbol(self, symbol: str) -> bool:
        """Read that symbol, if it is the current token."""
        if self.current.kind is not TokenKind.SYMBOL or self.current.text != symbol:
            return False
        self._next += 1
        return True

    def expect_symbol(self, symbol: str) -> None:
        """Read that symbol.

        Raises:
            CosmosError: 400, if it is not the current token.
        """
        if not self.accept_symbol(symbol):
            raise self.error()

    def error(self) -> CosmosError:
        """The syntax error at the current token."""
        return syntax_error(self.current.at, self.current.text)
