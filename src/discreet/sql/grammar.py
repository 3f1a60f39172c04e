"""Every node of SQL that a question may hold, with the parts of it that are read.

The parser knows far more SQL than this house, and often keeps a detail as one more argument of a
node it shares (`NOT LIKE` is a LIKE with `negate`). A rule that overlooks such an argument answers
another question than was asked, so what nobody reads is refused before anything is bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from discreet.sql.refuse import refusal
from discreet.sql.signatures import CALLS

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
