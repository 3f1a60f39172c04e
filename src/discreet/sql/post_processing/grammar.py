"""What a step over results may be made of: a closed list, since its text runs in a database.

That database holds noisy results and public tables, reaches no file and no network, and is thrown away
(engine/duckdb/scratch.py). The list keeps out what could fail on some value, what is never the same
twice, and what could fill a machine.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.plan.functions import CurveShape
from discreet.plan.kinds import SCALARS
from discreet.sql.grammar import READ, only_read
from discreet.sql.parse import MOST_NODES
from discreet.sql.refuse import refusal, too_large
from discreet.sql.scalars import function_name
from discreet.sql.signatures import CALLS, IN_STEPS, NAMED_IN_STEPS

_CLAUSES = (
    *(exp.Union, exp.Intersect, exp.Except, exp.Qualify, exp.Window, exp.WindowSpec, exp.Exists),
    *(exp.Array, exp.Tuple, exp.Any, exp.IgnoreNulls, exp.RespectNulls, exp.DPipe),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_WINDOWS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.PercentRank, exp.CumeDist),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
)
_FUNCTIONS = (
    *(exp.Concat, exp.TimeToStr, exp.Week, exp.DayOfYear, exp.Dayname, exp.Monthname, exp.Pi),
    *(exp.Corr, exp.CovarPop, exp.CovarSamp, exp.CountIf, exp.Mode, exp.ArgMax, exp.ArgMin),
)
_NAMES = frozenset({"var", "std", "clamp", "clip", "date_part", "log10"}) | NAMED_IN_STEPS
_RANKS = (exp.DenseRank, exp.PercentRank, exp.Rank, exp.CumeDist)
_ONE = (exp.RespectNulls, exp.IgnoreNulls, exp.Qualify, exp.Ntile, exp.RowNumber, exp.CountIf)
_ENDS = (exp.FirstValue, exp.LastValue)
KEPT: dict[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(parts)
    for kinds, parts in (
        ((exp.Select,), ("distinct", "qualify")),
        ((exp.Group,), ("rollup", "cube", "grouping_sets", "totals", "all")),
        (
            (exp.Union, exp.Intersect, exp.Except),
            ("with_", "this", "expression", "distinct", "order", "limit", "offset"),
        ),
        ((exp.Rollup, exp.Cube, exp.GroupingSets, exp.Grouping, exp.Tuple), ("expressions",)),
        (_RANKS, ("expressions",)),
        ((*_ONE, *_ENDS), ("this",)),
        ((exp.Lag, exp.Lead), ("this", "offset", "default")),
        ((exp.NthValue,), ("this", "offset")),
        ((exp.ArgMax, exp.ArgMin), ("this", "expression")),
        ((exp.Window,), ("this", "partition_by", "order", "spec", "over")),
        ((exp.WindowSpec,), ("kind", "start", "start_side", "end", "end_side")),
    )
    for kind in kinds
}
"""What a statement with steps may hold beyond `READ`: the parts of each node that are kept."""
STEPS = (frozenset(READ) - CALLS.keys()) | IN_STEPS
STEPS |= frozenset((*_CLAUSES, *_WINDOWS, *_FUNCTIONS))


_DEFINED = {
    kind: exp.GTE if shape.from_zero else exp.GT
    for kind, found in CALLS.items()
    if isinstance(shape := getattr(SCALARS[found.function], "curve", None), CurveShape)
    and shape.from_zero is not None
}
"""Roots and logarithms: from 0 on, or above it; elsewhere DuckDB would fail."""


def only_kept(tree: exp.Expr) -> None:
    """Refuse a statement with a part that its steps would drop.

    Taking a statement apart keeps of each node what it knows: the joins of a bracket, a PIVOT, new
    names of columns or a WINDOW clause would be lost, and another question answered.

    Guarantee: every argument of every node of the statement, as it was written, is one that steps or
        the private questions below them read, or the statement is refused.
    """
    for node in tree.walk():
        only_read(node, KEPT)


def only_steps(tree: exp.Expr) -> None:
    """Refuse a step that holds any node that is not listed.

    Guarantee: no table function, no file, no setting, no random number, no recursion: what runs is
        a function of the results and public tables alone.
    """
    for number, node in enumerate(tree.walk()):
        if number > 4 * MOST_NODES:
            raise too_large()
        if type(node) not in STEPS:
            raise refusal("afterwards", what=function_name(node))
        if isinstance(node, exp.Anonymous) and str(node.name).lower() not in _NAMES:
            raise refusal("afterwards", what=str(node.name)[:40].upper())
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
            raise refusal("clause", what="A function in FROM")


def total(tree: exp.Query) -> exp.Query:
    """Return a step whose functions give NULL where they would fail on a noisy value."""

    def changed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Log):  # the base may stand first
            value = node.expression or node.this
            return _where(exp.GT(this=value.copy(), expression=exp.Literal.number(0)), node)
        if type(node) in _DEFINED:
            above = _DEFINED[type(node)]
            return _where(above(this=node.this.copy(), expression=exp.Literal.number(0)), node)
        if type(node) is exp.Cast:
            return exp.TryCast(this=node.this, to=node.args["to"])
        return node

    found = tree.copy().transform(changed)
    assert isinstance(found, exp.Query), "a query stays one"
    return found


def _where(condition: exp.Expr, node: exp.Expr) -> exp.Expr:
    if isinstance(node.parent, exp.If):
        return node
    return exp.Case(ifs=[exp.If(this=condition, true=node.copy())])
