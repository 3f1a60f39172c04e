"""Text to one checked SELECT tree: how each function is called, the grammar, limits, and the parser.

`LEFT(s, 2)` is parsed once: the node that the parser makes of it, the argument where the column stood and
those where constants stood are the signature, for the grammar and for the rules alike.

The grammar lists every node that a question may hold, with the parts of it that are read. The parser knows far
more SQL than this house, and often keeps a detail as one more argument of a node it shares (`NOT LIKE` is a LIKE
with `negate`). A rule that overlooks such an argument answers another question than was asked, so what nobody
reads is refused before anything is bound.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from discreet.ask.plan.kinds import SCALARS
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.spelling import desugared
from discreet.errors import QueryRefused
from discreet.privacy.kernel.patterns import plain_text


@dataclass(frozen=True, slots=True)
class CallSignature:
    """A function's name in a plan and for people, and where its operand and its constants stand."""

    function: str
    spelled: str
    operand: str
    constants: tuple[str, ...]

    @property
    def read(self) -> frozenset[str]:
        """Return the arguments of the node that are read."""
        return frozenset((self.operand, *self.constants))


def _signature(function: str, call: str, node: exp.Expr) -> CallSignature | None:
    given = {name: value for name, value in node.args.items() if isinstance(value, exp.Expr)}
    operands = [name for name, value in given.items() if isinstance(value, exp.Column)]
    if len(operands) != 1:
        return None
    constants = tuple(name for name in given if name != operands[0])
    return CallSignature(function, call.partition("(")[0], operands[0], constants)


_PARSED = [
    (function, call, sqlglot.parse_one(call, read="duckdb"))
    for function, row in SCALARS.items()
    for call in row.written
]

CALLS: dict[type[exp.Expr], CallSignature] = {
    type(node): found
    for function, call, node in _PARSED
    if (found := _signature(function, call, node)) is not None
}
"""By the parser's node. A node that has a rule of its own is read by that rule."""

NAMED: dict[str, tuple[str, int]] = {
    str(node.name).lower(): (function, len(node.expressions))
    for function, _call, node in _PARSED
    if isinstance(node, exp.Anonymous)
}
"""Functions that the parser does not know, by their names: the operand first, then constants."""

IN_STEPS = frozenset(type(node) for function, _call, node in _PARSED if SCALARS[function].steps)
NAMED_IN_STEPS = frozenset(name for name, (function, _) in NAMED.items() if SCALARS[function].steps)
"""What may stand in a step over results, where DuckDB computes it itself."""


_ONE = ("this",)
_TWO = ("this", "expression")
_SELECT = (
    *("with_", "expressions", "from_", "joins", "where"),
    *("group", "having", "order", "limit", "offset"),
)

_WRITTEN: dict[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(parts)
    for kinds, parts in (
        # Clauses.
        ((exp.Select,), _SELECT),
        ((exp.With, exp.Group, exp.Order, exp.Distinct), ("expressions",)),
        ((exp.CTE, exp.Subquery, exp.Alias), ("this", "alias")),
        ((exp.TableAlias, exp.From, exp.Where, exp.Having), _ONE),
        ((exp.Table,), ("this", "alias", "db")),
        ((exp.Join,), ("this", "on", "side", "kind", "using", "method")),
        ((exp.Ordered,), ("this", "desc", "nulls_first")),
        ((exp.Limit, exp.Offset), ("expression",)),
        # Names and constants.
        ((exp.Identifier,), ("this", "quoted")),
        ((exp.Column,), ("this", "table", "db")),
        ((exp.Literal,), ("this", "is_string")),
        ((exp.Star, exp.Null), ()),
        ((exp.Boolean, exp.Paren, exp.Neg, exp.Not, exp.Var, exp.DataTypeParam), _ONE),
        ((exp.Interval,), ("this", "unit")),
        ((exp.DataType,), ("this", "expressions")),
        # Operators.
        ((exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod), _TWO),
        ((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _TWO),
        ((exp.Like, exp.ILike, exp.Is), (*_TWO, "negate")),
        ((exp.Between,), ("this", "low", "high")),
        ((exp.In,), ("this", "expressions", "query")),
        ((exp.Case,), ("this", "ifs", "default")),
        ((exp.If,), ("this", "true", "false")),
        ((exp.Cast,), ("this", "to")),
        ((exp.TryCast,), ("this", "to", "safe")),
        # Functions that are more than a row of `plan.functions`.
        ((exp.Year, exp.Quarter, exp.Month, exp.Hour, exp.Minute, exp.Second), _ONE),
        ((exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfWeekIso, exp.LastDay), _ONE),
        ((exp.Nullif, exp.Extract, exp.Log), _TWO),
        ((exp.Least, exp.Greatest), ("this", "expressions", "ignore_nulls")),
        ((exp.Coalesce, exp.Anonymous), ("this", "expressions")),
        ((exp.TimestampTrunc, exp.DateTrunc), ("this", "unit")),
        ((exp.DateDiff,), (*_TWO, "unit", "date_part_boundary")),
        ((exp.WidthBucket,), ("this", "min_value", "max_value", "num_buckets")),
        ((exp.DayOfYear, exp.Week, exp.WeekOfYear, exp.Dayname, exp.Monthname, exp.Any), _ONE),
        ((exp.CurrentDate, exp.CurrentTimestamp, exp.Pi), ()),
        ((exp.TimeToStr, exp.ToChar), ("this", "format")),
        ((exp.Date, exp.TimeToUnix), _ONE),
        ((exp.DateAdd, exp.DateBin), _TWO),
        ((exp.AtTimeZone,), ("this", "zone")),
        ((exp.Array,), ("expressions",)),
        ((exp.Exists,), _ONE),
        ((exp.Concat,), ("expressions", "safe", "coalesce")),
        ((exp.DPipe,), (*_TWO, "safe")),
        ((exp.RegexpLike,), (*_TWO, "flag")),
        ((exp.RegexpILike,), _TWO),
        ((exp.NullSafeEQ, exp.NullSafeNEQ), _TWO),
        ((exp.RegexpReplace,), (*_TWO, "replacement", "modifiers", "single_replace")),
        # Aggregates.
        ((exp.Count,), ("this", "expressions", "big_int")),
        ((exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Variance, exp.VariancePop), _ONE),
        ((exp.Stddev, exp.StddevPop, exp.StddevSamp), _ONE),
        ((exp.Corr, exp.CovarPop, exp.CovarSamp), (*_TWO, "null_on_zero_variance")),
        ((exp.RegrSlope, exp.RegrIntercept, exp.RegrR2), _TWO),
        ((exp.Mode,), _ONE),
        ((exp.Quantile, exp.ApproxQuantile), ("this", "quantile")),
        ((exp.PercentileCont, exp.PercentileDisc, exp.Filter, exp.WithinGroup), _TWO),
    )
    for kind in kinds
}
READ = {kind: found.read for kind, found in CALLS.items()} | _WRITTEN
"""What is not a key here is refused by the rules of its place, or at the latest by `only_known`."""

_NOTHING: frozenset[str] = frozenset()
_NO_MORE: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType({})

_WORDS = {
    "qualify": "QUALIFY",
    "into": "SELECT INTO",
    "windows": "WINDOW",
    "locks": "FOR UPDATE",
    "symmetric": "BETWEEN SYMMETRIC",
    "recursive": "WITH RECURSIVE",
    "pivots": "PIVOT or UNPIVOT",
    "joins": "JOIN in brackets",
    "columns": "Renaming columns in FROM or WITH",
    "except_": "* EXCLUDE",
    "replace": "* REPLACE",
    "rename": "* RENAME",
    "by_name": "UNION BY NAME",
    "laterals": "LATERAL",
}


def only_read(node: exp.Expr, more: Mapping[type[exp.Expr], frozenset[str]] = _NO_MORE) -> None:
    """Refuse a node with an argument that no rule reads; `more` are parts that other rules read.

    Guarantee: whatever the parser kept of a known node is either read or refused.
    """
    if type(node) not in READ and type(node) not in more:
        return
    allowed = READ.get(type(node), _NOTHING) | more.get(type(node), _NOTHING)
    for name, value in node.args.items():
        if name not in allowed and not _nothing(value):
            raise _unread(node, name)


def only_known(tree: exp.Expr) -> None:
    """Refuse a tree that holds any node at all that is not in the grammar, used or not."""
    for node in tree.walk():
        if type(node) not in READ:
            raise refusal("clause", what=_said(node))


def _nothing(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, list | str) and not value)


def _unread(node: exp.Expr, name: str) -> Exception:
    if name == "sample":
        return refusal("sample")
    if name == "distinct" and isinstance(node, exp.Select):
        return refusal("distinct")
    if isinstance(node, exp.Func):
        return refusal("clause", what=f"{_said(node)} with so many arguments")
    return refusal("clause", what=_WORDS.get(name, name.rstrip("_").replace("_", " ").upper()))


def _said(node: exp.Expr) -> str:
    # Not node.sql(): writing a strange call can fail inside the parser's own generator.
    if isinstance(node, exp.Anonymous):
        return str(node.name)[:40].upper()
    if isinstance(node, exp.Func):
        return str(type(node).sql_names()[0])[:40].upper()
    return type(node).__name__.upper()


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
