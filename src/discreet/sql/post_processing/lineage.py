"""Where the cells of an outcome come from: those that a step passes on keep their error bars.

And whether steps select rows by their noisy values, which those bars must allow for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.sql.aggregates import is_chosen
from discreet.sql.post_processing.program import ROW, ErrorBarSources, LaterSelection, Program
from discreet.sql.post_processing.selecting import passes, selects


def bars_of(node: exp.Query, names: Sequence[str]) -> ErrorBarSources | None:
    """Return which result's rows the outcome shows, None where a row is made of several."""
    found = _traced(node)
    if found is None or len(node.expressions) != len(names):
        return None
    return found


def selection_of(program: Program, part: int) -> LaterSelection:
    """Return how steps may select among the cells of a private query, and of how many such a column is."""
    most = 1
    for output in _traced_outputs(program):
        beside = {i for i in range(len(program.parts)) if _has_errors(output, program, i)}
        if part in beside:
            most = max(most, len(beside))
    return LaterSelection(most_rows_kept(program, part), most)


def most_rows_kept(program: Program, part: int) -> int | None:
    """Return above how many rows of a private question steps may select by noisy values; None where never."""
    bars = program.bars
    if any(
        output.hides and _has_errors(output, program, part) for output in _traced_outputs(program)
    ):
        return 0
    if bars is None or bars.part != part:
        return 0 if selects(program.after) else None
    outputs = program.parts[part].expressions
    if bars.deciding is None or any(_is_noisy(outputs[i]) for i in bars.deciding):
        return 0
    return bars.limit


def _is_noisy(output: exp.Expr) -> bool:
    return output.find(exp.AggFunc, exp.Anonymous) is not None


def _traced_outputs(program: Program) -> tuple[CellSources, ...]:
    """Return the cells that each output of a program is made of, and whether noise selects among them."""
    keys = {
        (part, column)
        for part, select in enumerate(program.parts)
        for column, output in enumerate(select.expressions)
        if not _is_noisy(output)
    }
    found = _Tracer(frozenset(keys)).outputs(program.after)
    return tuple(source for _, source in found[: len(program.columns)])


def _has_errors(output: CellSources, program: Program, part: int) -> bool:
    """Return whether an output shows ends of a part's intervals, or values that it chose: those have rank errors."""
    asked = program.parts[part].expressions
    return any(
        cell in output.ends or is_chosen(asked[cell[1]]) for cell in output.cells if cell[0] == part
    )


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


_Cells = frozenset[tuple[int, int]]
_NONE: _Cells = frozenset()


@dataclass(frozen=True, slots=True)
class CellSources:
    """The cells that an output is made of, each a result and a column; `same`: it is one of them as it is.

    `ends`: those of which it reads an end of the interval. `noisy`: it may carry noise. `hides`: noisy values may
    decide in an expression which of the cells it shows. `gathers`: it may show cells of other rows.
    """

    cells: _Cells = _NONE
    same: bool = False
    ends: _Cells = _NONE
    noisy: bool = False
    hides: bool = False
    gathers: bool = False

    def __or__(self, other: CellSources) -> CellSources:
        return CellSources(
            self.cells | other.cells,
            self.same and other.same,
            self.ends | other.ends,
            self.noisy or other.noisy,
            self.hides or other.hides,
            self.gathers or other.gathers,
        )


_Level = Mapping[str, CellSources]
"""The columns of something in FROM, by lower-case name."""
_Levels = Mapping[str, _Level | None]
"""What is in FROM, by its name; None for a result or a public table, whose columns are c0, c1, ..."""


def sources_of(after: exp.Query) -> tuple[CellSources, ...]:
    """Return the cells of results that each output of a step is made of.

    An output that aggregates is made of the cells too that decide which rows it is of.
    """
    return tuple(found for _, found in _Tracer().outputs(after))


def _clauses(node: exp.Select, *, cut: bool) -> list[exp.Expr]:
    """Return what decides which rows a SELECT shows, outputs in place of their numbers and names too."""
    names = ("where", "group", "having", "qualify", *(("order",) if cut else ()))
    joins = [join.args.get("on") for join in node.args.get("joins") or ()]
    found = [clause for clause in (*map(node.args.get, names), *joins) if clause is not None]
    named = {column.name.lower() for each in found for column in each.find_all(exp.Column)}
    group, order = node.args.get("group"), node.args.get("order") if cut else None
    listed = [*(group.expressions if group else ()), *(order.expressions if order else ())]
    bare = [each.this if isinstance(each, exp.Ordered) else each for each in listed]
    numbers = {each.name for each in bare if isinstance(each, exp.Literal)}
    every = node.args.get("distinct") or (group is not None and group.args.get("all"))
    return found + [
        output.unalias()
        for place, output in enumerate(node.expressions, 1)
        if every or output.alias.lower() in named or str(place) in numbers
    ]


class _Tracer:
    """Follows outputs to the cells that they are made of; `keys`: the cells that carry no noise."""

    def __init__(self, keys: _Cells = _NONE) -> None:
        self.keys = keys
        self._known: dict[int, list[tuple[str, CellSources]]] = {}
        self._decided: dict[tuple[int, bool], CellSources] = {}

    def outputs(self, node: exp.Expr) -> list[tuple[str, CellSources]]:
        """Return the name of each output of a query, and what it is made of."""
        if id(node) not in self._known:
            self._known[id(node)] = self._outputs(node)
        return self._known[id(node)]

    def _outputs(self, node: exp.Expr) -> list[tuple[str, CellSources]]:
        if isinstance(node, exp.Subquery):
            return self.outputs(node.this)
        if isinstance(node, exp.SetOperation):
            sides = zip(self.outputs(node.this), self.outputs(node.expression), strict=False)
            return [(name, one | other) for (name, one), (_, other) in sides]
        if not isinstance(node, exp.Select):
            return []
        levels = self._levels(node)
        return [
            (each.alias_or_name, self._output(node, each.unalias(), levels))
            for each in node.expressions
        ]

    def _output(self, node: exp.Select, output: exp.Expr, levels: _Levels) -> CellSources:
        found = self._made_of(output, levels)
        if output.find(exp.AggFunc, exp.Window) is None:
            return found
        # What a total or a window shows depends on which rows there are.
        return replace(found, cells=found.cells | self._deciding(node).cells, same=False)

    def _deciding(self, node: exp.Expr, *, cut: bool = False) -> CellSources:
        """Return the cells by which a query and those in its FROM decide which rows there are; `cut`: a LIMIT follows."""
        cut = cut or bool(node.args.get("limit") or node.args.get("offset"))
        if (id(node), cut) not in self._decided:
            self._decided[id(node), cut] = self._decided_by(node, cut=cut)
        return self._decided[id(node), cut]

    def _decided_by(self, node: exp.Expr, *, cut: bool) -> CellSources:
        found = CellSources()
        if isinstance(node, exp.Subquery):
            return self._deciding(node.this, cut=cut)
        if isinstance(node, exp.SetOperation):
            found = self._deciding(node.this, cut=cut) | self._deciding(node.expression, cut=cut)
            if cut or node.args.get("distinct") or not isinstance(node, exp.Union):
                for _, output in self.outputs(node):
                    found |= output
            return found
        if not isinstance(node, exp.Select):
            return found
        levels = self._levels(node)
        for clause in _clauses(node, cut=cut):
            found |= self._made_of(clause, levels)
        for table in self._tables(node):
            found |= self._deciding(table, cut=cut)
        return found

    def _tables(self, node: exp.Select) -> list[exp.Expr]:
        tables = [node.args["from_"].this] if node.args.get("from_") is not None else []
        return tables + [join.this for join in node.args.get("joins") or ()]

    def _levels(self, node: exp.Select) -> _Levels:
        tables = self._tables(node)
        return {table.alias_or_name.lower(): self._level(table) for table in tables}

    def _level(self, table: exp.Expr) -> _Level | None:
        if isinstance(table, exp.Table):
            return None
        return {name.lower(): found for name, found in self.outputs(table)}

    def _made_of(self, node: exp.Expr, levels: _Levels) -> CellSources:
        if isinstance(node, exp.Column):
            return self._column(node, levels)
        if isinstance(node, exp.Query):
            inner = self.outputs(node)
            found = inner[0][1] if len(inner) == 1 else CellSources()
            # Which rows there are may be known by their noise, also where the output is a key.
            return CellSources(
                found.cells | self._deciding(node).cells,
                found.same,
                found.ends,
                noisy=True,
                hides=found.hides or selects(node),
                gathers=True,
            )
        if isinstance(node, exp.Null):
            return CellSources(same=True)
        parts = {id(each): self._made_of(each, levels) for each in node.iter_expressions()}
        found = CellSources()
        for part in parts.values():
            found |= part
        noisy = {place for place, part in parts.items() if part.noisy}
        hides = found.noisy and not passes(node, lambda each: id(each) in noisy)
        gathers = found.gathers or isinstance(node, exp.AggFunc | exp.Window)
        return replace(found, same=False, hides=found.hides or hides, gathers=gathers)

    def _column(self, node: exp.Column, levels: _Levels) -> CellSources:
        name, table = node.name.lower(), node.table.lower()
        for alias, level in levels.items():
            if table and alias != table:
                continue
            if level is not None:
                if name in level:
                    return level[name]
                continue
            if alias.startswith("p"):
                return CellSources()
            result = re.fullmatch(r"[clh]([0-9]+)", name)
            if result is not None:
                return self._cell((int(alias[1:]), int(result[1])), value=name[0] == "c")
        # A column of an outer query, or another output's name.
        return CellSources(noisy=True, hides=True)

    def _cell(self, cell: tuple[int, int], *, value: bool) -> CellSources:
        cells = frozenset([cell])
        return CellSources(
            cells,
            same=value,
            ends=_NONE if value else cells,
            noisy=not (value and cell in self.keys),
        )
