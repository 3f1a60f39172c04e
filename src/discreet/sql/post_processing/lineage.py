"""Where the cells of an outcome come from: those that a step passes on keep their error bars.

And whether steps select rows by their noisy values, which those bars must allow for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.sql.post_processing.program import ROW, ErrorBarSources, Program


def bars_of(node: exp.Query, names: Sequence[str]) -> ErrorBarSources | None:
    """Return which result's rows the outcome shows, None where a row is made of several."""
    found = _traced(node)
    if found is None or len(node.expressions) != len(names):
        return None
    return found


def most_rows_kept(program: Program, part: int) -> int | None:
    """Return above how many rows of a private question steps may select by noisy values; None where never."""
    bars = program.bars
    if _hides_ends(program.after):
        return 0
    if bars is None or bars.part != part:
        return 0 if _selects(program.after) else None
    outputs = program.parts[part].expressions
    if bars.deciding is None or any(
        outputs[i].find(exp.AggFunc, exp.Anonymous) for i in bars.deciding
    ):
        return 0
    return bars.limit


def _hides_ends(node: exp.Query) -> bool:
    """Return whether expressions may show the ends of intervals in some rows and not in others."""
    ends = any(re.fullmatch(r"[lh][0-9]+", column.name) for column in node.find_all(exp.Column))
    return ends and node.find(*_BRANCHES) is not None


def _selects(node: exp.Query) -> bool:
    """Return whether a query may show some rows of its sources, or combinations of them, and not others."""
    for part in node.find_all(exp.Select, exp.SetOperation):
        if any(part.args.get(clause) for clause in (*_CUTS, *_GATHERS, "where", "qualify")):
            return True
        if not isinstance(part, exp.Select | exp.Union):
            return True
    return False


def with_row(node: exp.Query, mark: str) -> exp.Query:
    """Return the step with the number of the result's row as one more output, at every level."""
    found, name = node.copy(), ROW + mark
    level = found
    while True:
        source = level.args["from_"].this
        if isinstance(source, exp.Subquery):
            alias = source.alias
            level.append("expressions", exp.column(name, table=alias, quoted=True).as_(name))
            level = source.this
            continue
        level.append("expressions", exp.column(ROW).as_(name))
        return found


_GATHERS = ("group", "having", "distinct", "joins")
_BRANCHES = (exp.Case, exp.If, exp.Nullif, exp.Coalesce, exp.Filter, exp.Least, exp.Greatest)
_CUTS = ("limit", "offset", "fetch")
_Names = Mapping[str, int | None]


def _traced(node: exp.Expr) -> ErrorBarSources | None:
    """Return the result that a SELECT shows row by row, which column each output is, and what selects."""
    if not isinstance(node, exp.Select) or _gathers(node):
        return None
    source = node.args["from_"].this
    if isinstance(source, exp.Table):
        if not source.name.startswith("r"):
            return None
        below = ErrorBarSources(int(source.name[1:]), (), frozenset())
        known: _Names | None = None
    else:
        found = _traced(source.this) if isinstance(source, exp.Subquery) else None
        if found is None:
            return None
        below = found
        known = {
            (output.alias or output.name).lower(): column
            for output, column in zip(source.this.expressions, found.columns, strict=True)
        }
    columns = tuple(_place(output.unalias(), known) for output in node.expressions)
    written = {
        output.alias.lower(): column
        for output, column in zip(node.expressions, columns, strict=True)
        if output.alias
    }
    return ErrorBarSources(
        below.part, columns, _deciding(node, (known, written), below.deciding), _limit(node, below)
    )


def _deciding(
    node: exp.Select, names: tuple[_Names | None, _Names], below: frozenset[int] | None
) -> frozenset[int] | None:
    """Return the columns of the result that conditions read, here and below; None where it may be any.

    A name may be one of the source or of an output, so it counts as both.
    """
    found: set[int | None] = set() if below is not None else {None}
    for clause in (node.args.get("where"), node.args.get("qualify")):
        if clause is None:
            continue
        if clause.find(exp.Select):
            return None
        for column in clause.find_all(exp.Column):
            known, written = names
            found.add(_place(column, known))
            if column.name.lower() in written:
                found.add(written[column.name.lower()])
    places = frozenset(each for each in found if each is not None)
    return None if None in found else places | (below or frozenset())


def _limit(node: exp.Select, below: ErrorBarSources) -> int | None:
    """Return above how many rows LIMIT leaves some out, here or below; None where there is none."""
    if node.args.get("offset") or node.args.get("fetch"):
        return 0
    limit = node.args.get("limit")
    if limit is None:
        return below.limit
    wanted = limit.expression
    rows = int(wanted.name) if isinstance(wanted, exp.Literal) and wanted.name.isdigit() else 0
    return rows if below.limit is None else min(rows, below.limit)


def _gathers(node: exp.Select) -> bool:
    if any(node.args.get(clause) for clause in _GATHERS) or node.args.get("from_") is None:
        return True
    for output in node.expressions:
        for part in output.walk(prune=lambda each: isinstance(each, exp.Subquery)):
            if isinstance(part, exp.AggFunc) and not _in_window(part):
                return True
    return False


def _in_window(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls):
        above = above.parent
    return isinstance(above, exp.Window)


def _place(bare: exp.Expr, known: _Names | None) -> int | None:
    """Return the column of the result that an expression is; `known`: those of the source, by name."""
    if not isinstance(bare, exp.Column):
        return None
    if known is not None:
        return known.get(bare.name.lower())
    return int(bare.name[1:]) if bare.name.startswith("c") and bare.name[1:].isdigit() else None


@dataclass(frozen=True, slots=True)
class CellSources:
    """The cells that an output is made of, each a result and a column; `same`: it is one of them as it is."""

    cells: frozenset[tuple[int, int]] = frozenset()
    same: bool = False

    def __or__(self, other: CellSources) -> CellSources:
        return CellSources(self.cells | other.cells, self.same and other.same)


_Level = Mapping[str, CellSources]
"""The columns of something in FROM, by lower-case name."""


def sources_of(after: exp.Query) -> tuple[CellSources, ...]:
    """Return the cells of results that each output of a step is made of."""
    return tuple(found for _, found in _outputs(after))


def _outputs(node: exp.Expr) -> list[tuple[str, CellSources]]:
    if isinstance(node, exp.Subquery):
        return _outputs(node.this)
    if isinstance(node, exp.SetOperation):
        sides = zip(_outputs(node.this), _outputs(node.expression), strict=False)
        return [(name, one | other) for (name, one), (_, other) in sides]
    if not isinstance(node, exp.Select):
        return []
    tables = [node.args["from_"].this] if node.args.get("from_") is not None else []
    tables += [join.this for join in node.args.get("joins") or ()]
    levels = {table.alias_or_name.lower(): _level(table) for table in tables}
    return [(each.alias_or_name, _made_of(each.unalias(), levels)) for each in node.expressions]


def _level(table: exp.Expr) -> _Level | None:
    """Return the columns of something in FROM; None for a result, whose columns are c0, c1, ..."""
    if isinstance(table, exp.Table):
        return None if table.name.startswith("r") else {}
    return {name.lower(): found for name, found in _outputs(table)}


def _made_of(node: exp.Expr, levels: Mapping[str, _Level | None]) -> CellSources:
    if isinstance(node, exp.Column):
        return _column_of(node, levels)
    if isinstance(node, exp.Subquery):
        inner = _outputs(node)
        return inner[0][1] if len(inner) == 1 else CellSources()
    if isinstance(node, exp.Null):
        return CellSources(same=True)
    parts = [_made_of(each, levels).cells for each in node.iter_expressions()]
    return CellSources(frozenset().union(*parts))


def _column_of(node: exp.Column, levels: Mapping[str, _Level | None]) -> CellSources:
    name, table = node.name.lower(), node.table.lower()
    for alias, level in levels.items():
        if table and alias != table:
            continue
        if level is not None:
            if name in level:
                return level[name]
            continue
        result = re.fullmatch(r"[clh]([0-9]+)", name)
        if result is not None:
            return CellSources(frozenset([(int(alias[1:]), int(result[1]))]), name[0] == "c")
    return CellSources()
