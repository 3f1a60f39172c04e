"""Steps after the noise: whether a statement needs them, what they may be made of, and the program they make.

A statement needs them where it does more with its results than one SELECT of aggregates can say. Then it is
private questions, and SQL over their noisy results and public tables.

What a step may be made of is a closed list, since its text runs in a database. That database holds noisy results
and public tables, reaches no file and no network, and is thrown away (data/engines/duckdb/scratch.py). The list keeps
out what could fail on some value, what is never the same twice, and what could fill a machine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.ask.plan.functions import CurveShape
from discreet.ask.plan.kinds import SCALARS
from discreet.ask.sql.parse import CALLS, IN_STEPS, MOST_NODES, NAMED_IN_STEPS, READ, only_read
from discreet.ask.sql.refuse import refusal, too_large
from discreet.ask.sql.scalars import function_name
from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog

ROW = "_row"
"""The column of a result that numbers its rows, so that a cell finds its error bar again."""
_OURS = re.compile(rf"(?:{ROW}|[kga][0-9]+)(_*)")


def unwritten(tree: exp.Expr) -> str:
    """Return an ending that makes our own names such as no identifier of a statement is.

    Guarantee: `_row`, and k0, g0, a0 and the like, with this ending are written nowhere in `tree`, so
        nothing that somebody wrote can mean them: not a column of a subquery, not one from outside.
    """
    words = (node.name.lower() for node in tree.find_all(exp.Identifier))
    found = [len(match[1]) + 1 for word in words if (match := _OURS.fullmatch(word))]
    return "_" * max(found, default=0)


@dataclass(frozen=True, slots=True)
class LaterSelection:
    """How the steps after a private query may select among its cells by noise: its error bars allow for it.

    `most_rows`: above how many of its rows they may select some by any of their noisy values; None where never.
    `columns`: of how many columns of private queries one column may show errors, as a UNION or GREATEST does.
    """

    most_rows: int | None = None
    columns: int = 1


NO_STEPS = LaterSelection()


@dataclass(frozen=True, slots=True)
class Program:
    """Private questions in order, public tables, and one SELECT over both.

    In `after` the results are tables r0, r1, ... with columns c0, c1, ..., the public tables p0, p1,
    ... with the columns that they are declared with; there are no others. `columns` are the names to
    show. `bars` gives, where each row of the outcome is one row of a single result, that result and
    the column that each output passes on unchanged (None: a computed one); its last output is then
    the number of that row. `mark` ends the names of keys and aggregates that steps read (`unwritten`).
    """

    parts: tuple[exp.Select, ...]
    public: tuple[tuple[Dataset, Table], ...]
    after: exp.Query
    columns: tuple[str, ...]
    bars: ErrorBarSources | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ErrorBarSources:
    """Which result's rows the outcome shows, and which of its columns each output is.

    `deciding`: the result's columns by which steps select among its rows, None where it may be any. `limit`:
    above how many rows a LIMIT leaves some out.
    """

    part: int
    columns: tuple[int | None, ...]
    deciding: frozenset[int] | None
    limit: int | None = None


Known = Mapping[str, bool]
"""Names of WITH clauses, and whether each holds rows of people."""


def has_steps(tree: exp.Expr, catalog: Catalog) -> bool:
    """Return whether `tree` needs a step after the noise: cheap, and right for what binds anyway."""
    if isinstance(tree, exp.SetOperation):
        return True
    if not isinstance(tree, exp.Select):
        return False
    if tree.args.get("distinct") or tree.args.get("qualify") or rolled_up(tree):
        return True
    if any(True for _ in tree.find_all(exp.SetOperation)):
        return True
    shown = [*tree.expressions, *_clauses(tree)]
    if any(_has(node, (exp.Window, exp.Select)) for node in shown):
        return True
    if any(_listed_quantile(node) or is_end(node) or _has(node, (exp.Mode,)) for node in shown):
        return True
    return not _reads_people(tree, catalog, {})


def _clauses(tree: exp.Select) -> list[exp.Expr]:
    return [node for name in ("having", "order") if (node := tree.args.get(name)) is not None]


def _has(node: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    return node.find(*kinds) is not None


def _listed_quantile(node: exp.Expr) -> bool:
    found = node.find_all(exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc)
    return any(isinstance(part, exp.Array) for each in found for part in each.args.values())


ENDS = {"dp_interval_low": "l", "dp_interval_high": "h"}
"""Functions that show an end of an error bar, and the columns of a result that hold it."""


def is_end(node: exp.Expr) -> bool:
    """Return whether an output is an end of another one's error bar."""
    inner = node.unalias()
    return isinstance(inner, exp.Anonymous) and str(inner.name).lower() in ENDS


def rolled_up(select: exp.Select) -> bool:
    """Return whether a SELECT has several sets of keys at once."""
    group = select.args.get("group")
    if group is None:
        return False
    if any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "totals", "all")):
        return True
    return any(
        isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets) for part in group.expressions
    )


def _reads_people(tree: exp.Select, catalog: Catalog, known: Known) -> bool:
    """Return whether the rows under a SELECT are rows of people, not results."""
    known = with_clauses(tree, catalog, known)
    return any(source_reads_people(node, catalog, known) for node in sources(tree))


def with_clauses(tree: exp.Expr, catalog: Catalog, known: Known) -> Known:
    """Return which WITH clauses, outer ones and those of `tree`, hold rows of people."""
    clause = tree.args.get("with_")
    found = dict(known)
    for cte in clause.expressions if clause is not None else ():
        found[cte.alias.lower()] = query_reads_people(cte.this, catalog, found)
    return found


def sources(tree: exp.Select) -> list[exp.Expr]:
    """Return what stands in FROM and JOIN."""
    first = tree.args.get("from_")
    joined = [join.this for join in tree.args.get("joins") or ()]
    return [*([first.this] if first is not None else []), *joined]


def source_reads_people(node: exp.Expr, catalog: Catalog, known: Known) -> bool:
    """Return whether something in FROM holds rows of people."""
    if isinstance(node, exp.Subquery):
        return query_reads_people(node.this, catalog, known)
    if not isinstance(node, exp.Table):
        return False
    inner = [join.this for join in node.args.get("joins") or ()]
    if any(source_reads_people(each, catalog, known) for each in inner):
        return True
    if not node.db and node.name.lower() in known:
        return known[node.name.lower()]
    if not isinstance(node.this, exp.Identifier):
        return False
    return catalog.table(node.name, node.db or None).unit is not None


def query_reads_people(node: exp.Expr, catalog: Catalog, known: Known) -> bool:
    """Return whether a subquery's rows are rows of people: not aggregated, or grouped by person."""
    if isinstance(node, exp.Table | exp.Subquery):
        return source_reads_people(node, catalog, known)
    if isinstance(node, exp.SetOperation):
        sides = (node.this, node.expression)
        return any(query_reads_people(side, catalog, known) for side in sides)
    if not isinstance(node, exp.Select):
        return False
    inside = with_clauses(node, catalog, known)
    if not any(source_reads_people(each, catalog, inside) for each in sources(node)):
        return False
    if not aggregates(node):
        return not node.args.get("distinct")
    return groups_by_person(node, catalog, inside)


def aggregates(select: exp.Select) -> bool:
    """Return whether a SELECT makes fewer rows of its rows."""
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(_folds(node) for node in select.expressions)


def _folds(node: exp.Expr) -> bool:
    """Return whether an aggregate is called that is not the function of a window."""
    for part in node.walk(prune=lambda each: isinstance(each, exp.Subquery)):
        if isinstance(part, exp.AggFunc) and not _of_window(part):
            return True
        if isinstance(part, exp.Anonymous) and str(part.name).lower() in {"var", "std", "stdev"}:
            return True
    return False


def _of_window(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.WithinGroup):
        above = above.parent
    return isinstance(above, exp.Window) and node.arg_key == "this"


def groups_by_person(select: exp.Select, catalog: Catalog, known: Known) -> bool:
    """Return whether GROUP BY names a column that says whose row it is."""
    group = select.args.get("group")
    if group is None or rolled_up(select):
        return False
    people = person_columns(select, catalog, known)
    for node in group.expressions:
        column = _resolved(node, select)
        if isinstance(column, exp.Column) and column.name.lower() in people:
            return True
    return False


def _resolved(node: exp.Expr, select: exp.Select) -> exp.Expr:
    outputs: list[exp.Expr] = list(select.expressions)
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this) - 1
        return outputs[place].unalias() if 0 <= place < len(outputs) else node
    if isinstance(node, exp.Column) and not node.table:
        named = [each for each in outputs if isinstance(each, exp.Alias)]
        same = [each for each in named if each.alias.lower() == node.name.lower()]
        return same[0].unalias() if same else node
    return node


def units_of(tree: exp.Expr, catalog: Catalog, known: Collection[str] = ()) -> set[str]:
    """Return the lower-case names of columns that name the person, in all tables below."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)} | set(known)
    found: set[str] = set()
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        if not table.db and table.name.lower() in named:
            continue
        declared = catalog.table(table.name, table.db or None)
        if declared.unit is not None and declared.unit.column is not None:
            found.add(declared.unit.column.lower())
    return found


def person_columns(select: exp.Select, catalog: Catalog, known: Known) -> set[str]:
    """Return the lower-case names of columns that may name the person under a SELECT."""
    found = units_of(select, catalog, known)
    if found:
        return found
    # Everything comes from WITH clauses: any person column of the catalog may be meant.
    return {
        table.unit.column.lower()
        for dataset in catalog.datasets.values()
        for table in dataset.tables
        if table.unit is not None and table.unit.column is not None
    }


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
