"""Calls that the parser would cut short: it drops what is beyond their arguments, and says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from discreet.sql.refuse import refusal

MOST_ARGUMENTS = {
    "DATEDIFF": 3,
    "DATE_DIFF": 3,
    "DATETRUNC": 2,
    "DATE_TRUNC": 2,
    "DATE_TO_DATE_STR": 1,
    "LOG10": 1,
    "LOG2": 1,
    "MOD": 2,
    "QUANTILE": 2,
    "QUANTILE_CONT": 2,
    "QUANTILE_DISC": 2,
    "REGEXP_REPLACE": 4,
    "STRFTIME": 2,
    "TIME_TO_TIME_STR": 1,
    "TS_OR_DS_TO_DATE_STR": 1,
}
"""Found by calling every function the parser knows with too many arguments; a test does so again."""

_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


def only_whole_calls(tokens: Sequence[Token]) -> None:
    """Refuse a call with more arguments than the parser keeps.

    Guarantee: with this and the grammar, no part of a function call is left out unnoticed.
    """
    opened: list[tuple[str, int]] = []
    before = ""
    for token in tokens:
        if token.token_type in _OPEN:
            opened.append((before.upper(), 1))
        elif token.token_type in _CLOSE and opened:
            opened.pop()
        elif token.token_type is TokenType.COMMA and opened:
            name, count = opened[-1]
            opened[-1] = (name, count + 1)
            if count + 1 > MOST_ARGUMENTS.get(name, count + 1):
                raise refusal("clause", what=f"{name} with so many arguments")
        before = token.text
