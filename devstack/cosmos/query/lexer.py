"""Text of a query to tokens."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from devstack.cosmos.errors import CosmosError, bad_request

# Source: "Azure Cosmos DB service quotas", SQL query limits.
QUERY_CHARACTERS_MAX: Final = 256 * 1024


class TokenKind(Enum):
    """What a token is."""

    NAME = auto()
    PARAMETER = auto()
    NUMBER = auto()
    STRING = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``text`` is as written, strings without quotes and escapes; ``at`` counts characters."""

    kind: TokenKind
    text: str
    at: int


_PATTERN: Final = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
  | (?P<parameter> @[A-Za-z_0-9]+ )
  | (?P<number> -? (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
  | (?P<string> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
  | (?P<symbol> != | <> | <= | >= | [=<>(),.*\[\]] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_KINDS: Final = {
    "name": TokenKind.NAME,
    "parameter": TokenKind.PARAMETER,
    "number": TokenKind.NUMBER,
    "string": TokenKind.STRING,
    "symbol": TokenKind.SYMBOL,
}


def tokenize(text: str) -> list[Token]:
    """Split a query into tokens; the last one is END.

    Raises:
        CosmosError: 400, if a character begins no token or the text is too long.
    """
    if len(text) > QUERY_CHARACTERS_MAX:
        raise bad_request(f"The query must not be longer than {QUERY_CHARACTERS_MAX} characters.")
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None or match.lastgroup is None:
            raise syntax_error(at, text[at])
        if match.lastgroup != "space":
            kind = _KINDS[match.lastgroup]
            tokens.append(Token(kind, _unescape(match[0]) if kind is TokenKind.STRING else match[0], at))
        at = match.end()
    return [*tokens, Token(TokenKind.END, "", at)]


def syntax_error(at: int, near: str) -> CosmosError:
    """400 for a query that is not of the supported subset."""
    found = repr(near) if near else "the end"
    return bad_request(f"Syntax error in the query at character {at}, near {found}.")


def _unescape(quoted: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _SHORT_ESCAPES.get(match[2], match[2])

    return _ESCAPE.sub(character, quoted[1:-1])
