"""Text to one checked SELECT tree. Whatever is not expected in a clause is refused here."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from discreet.errors import QueryRefused
from discreet.kernel.patterns import plain_text
from discreet.sql.grammar import only_read
from discreet.sql.refuse import refusal
from discreet.sql.spelling.desugar import desugared

LONGEST = 100_000
"""No question needs more characters than this; a longer one is a mistake or an attack."""

DEEPEST = 100
"""What is nested more deeply would end in the recursion limit, sooner or later on the way."""

MOST_NODES = 12_000
"""Names, constants and operators of one question."""

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

# The parser's own warnings ("Falling back to parsing as a 'Command'") repeat the analyst's text.
logging.getLogger("sqlglot").addFilter(lambda _record: False)

_DIALECT = DuckDB()
"""The one dialect that questions are written in, whichever door they come through."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question that was parsed already, its parameters filled in; `text` only tells people.

    `unit`: the column that the statement itself calls the privacy unit. `ready`: the tree came out of
    `read_checked`, and whoever reads it leaves it as it is.
    """

    text: str
    tree: exp.Expr
    unit: str | None = None
    ready: bool = False

    def __str__(self) -> str:
        return self.text


def parse(sql: str | ParsedQuestion) -> exp.Select:
    """Return the one SELECT statement in `sql`, or refuse it with a sentence.

    Guarantee: the text is parsed once, and what the parser found is never written out and parsed
        again; every argument of every node it found is read by a rule, or the question is refused;
        and every engine can hold every text in it.
    """
    found = checked(read_checked(sql))
    for node in found.walk():
        only_read(node)
        if isinstance(node, exp.Literal | exp.Identifier) and not plain_text(node.name):
            raise refusal(
                "clause", what="A letter that no text can have (a zero byte, half a letter)"
            )
    return found


def read_checked(sql: str | ParsedQuestion) -> exp.Expr:
    """Return the tree of a statement that is neither too deep nor too long, of whatever kind."""
    if isinstance(sql, ParsedQuestion) and sql.ready:
        return sql.tree
    tree = sql.tree if isinstance(sql, ParsedQuestion) else read(sql)
    if _depth(tree) > DEEPEST:
        raise refusal("clause", what=f"A question nested more than {DEEPEST} levels deep")
    _only_short(tree)
    found = desugared(tree)
    _only_short(found)
    return found


def _only_short(tree: exp.Expr) -> None:
    if sum(1 for _ in tree.walk()) > MOST_NODES:
        raise refusal("too large", what=f"The question has over {MOST_NODES:,} words")


def read(sql: str) -> exp.Expr:
    """Return the tree of the one statement in `sql`, of whatever kind."""
    if len(sql) > LONGEST:
        raise refusal("clause", what="A question of more than 100,000 characters")
    try:
        tokens = with_limit(_DIALECT.tokenize(sql))
        only_whole_calls(tokens)
        statements = [tree for tree in _DIALECT.parser().parse(tokens, sql) if tree is not None]
    except QueryRefused:
        raise
    except Exception as error:  # noqa: BLE001  # broken text trips the parser in many ways of its own
        raise refusal("syntax", where=_where(error)) from None
    if len(statements) != 1:
        raise refusal("several statements" if statements else "not a select")
    return statements[0]


def only_whole_calls(tokens: Sequence[Token]) -> None:
    """Refuse a call with more arguments than the parser keeps: it drops the others, and says nothing.

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


def with_limit(tokens: list[Token]) -> list[Token]:
    """Return SELECT TOP 5 ... as SELECT ... LIMIT 5, where it is the outermost SELECT."""
    if len(tokens) < 3 or tokens[0].token_type is not TokenType.SELECT:
        return tokens
    if tokens[1].text.upper() != "TOP" or tokens[2].token_type is not TokenType.NUMBER:
        return tokens
    rest = [token for token in tokens[3:] if token.token_type is not TokenType.SEMICOLON]
    return [tokens[0], *rest, Token(TokenType.LIMIT, "LIMIT"), tokens[2]]


def parse_everywhere(sql: str) -> None:
    """Parse `sql` in every dialect that a front end reads, to see what that takes; keeps nothing."""
    for attempt in (lambda: read(sql), lambda: sqlglot.parse(sql, read="postgres")):
        with suppress(QueryRefused, SqlglotError):
            attempt()


def _depth(tree: exp.Expr) -> int:
    """Return the levels of the tree; a chain of AND or of OR is one level."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        for child in node.iter_expressions():
            chained = isinstance(child, exp.Connector) and type(child) is type(node)
            waiting.append((child, level if chained else level + 1))
    return deepest


def _where(error: Exception) -> str:
    found = getattr(error, "errors", None) or [{}]
    line, column = found[0].get("line"), found[0].get("col")
    return f"line {line}, column {column}" if line else "the beginning"


def checked(tree: exp.Expr) -> exp.Select:
    """Return `tree` if it is a SELECT made of known clauses only."""
    if isinstance(tree, exp.SetOperation):
        raise refusal("set operation")
    if not isinstance(tree, exp.Select):
        raise refusal("not a select")
    only_read(tree)
    return tree


def checked_table(table: exp.Table) -> exp.Table:
    """Return a plain table reference, or refuse what hangs on it."""
    if table.args.get("sample"):
        raise refusal("sample")
    if not isinstance(table.this, exp.Identifier):
        raise refusal("function", what=_name_of(table.this))
    only_read(table)
    return table


def _name_of(function: exp.Expr) -> str:
    # Not function.sql(): writing a strange call can fail inside the parser's own generator.
    if isinstance(function, exp.Func) and not isinstance(function, exp.Anonymous):
        return str(type(function).sql_names()[0])[:40].upper()
    return str(function.name)[:40].upper()
