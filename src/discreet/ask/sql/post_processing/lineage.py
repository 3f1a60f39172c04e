"""Lineage of an outcome: the cells that a step passes on keep their error bars.

And whether steps select rows by their noisy values, which those bars must allow for. The clauses and functions
that show all that they are given, so that noise selects nothing in them, are a closed list: everything that is not
on it counts as selecting by noisy values. MAX shows the cell with the most noise, and so do ARG_MAX, LAG in a noisy
order, or a division that is NULL in the other rows. [docs/notes/0122-what-does-not-select.md]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from discreet.ask.sql.aggregates import is_chosen
from discreet.ask.sql.post_processing.steps import ROW, ErrorBarSources, LaterSelection, Program

Noisy = Callable[[Any], bool]
"""Whether a part of an expression reads anything that carries noise."""

_SHOWN_WHOLE = ("expressions", "from_", "order")
_PUT_TOGETHER = ("this", "expression", "order")
_WIDE = (exp.DType.DOUBLE, exp.DType.TEXT, exp.DType.VARCHAR)
_ROW_NUMBERS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank),
    *(exp.PercentRank, exp.CumeDist, exp.Ntile),
)
_TOTALS = (exp.Sum, exp.Avg, exp.Count)
_BY_PEERS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
_OF_A_SET = (
    *(*_TOTALS, exp.CountIf, exp.Min, exp.Max, exp.Median, exp.Quantile),
    *(exp.PercentileCont, exp.PercentileDisc, exp.Variance, exp.VariancePop),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.RegrSlope, exp.RegrIntercept, exp.RegrR2),
)
_AROUND = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)


def selects(node: exp.Expr) -> bool:
    """Return whether a query may show some rows of its sources, or combinations of them, and not others."""
    for part in node.find_all(exp.Select, exp.SetOperation):
        if not isinstance(part, exp.Select | exp.Union):
            return True
        kept = _SHOWN_WHOLE if isinstance(part, exp.Select) else _PUT_TOGETHER
        if any(value for clause, value in part.args.items() if clause not in kept):
            return True
    return False


def follows_rows(node: exp.Expr) -> bool:
    """Return whether a window or total may depend on which of several rows comes first in what it reads.

    Guarantee: everything else has one value whatever the order of those rows is, but for the rounding of doubles.
        A window's own ORDER BY leaves rows that are equal in it in the order in which they come.
    """
    if not isinstance(node, exp.Window):
        return isinstance(node, exp.AggFunc) and not isinstance(node, _OF_A_SET)
    function = node.this
    while isinstance(function, _AROUND):
        function = function.this
    if isinstance(function, _BY_PEERS):
        return False
    frame = node.args.get("spec")
    counted = frame is not None and str(frame.args.get("kind")).upper() not in {"RANGE", "GROUPS"}
    return counted or not isinstance(function, _OF_A_SET)


def tells_apart(node: exp.Expr) -> list[exp.Expr]:
    """Return the values by which a window or total takes rows apart or in order: those equal in all come as they are."""
    if isinstance(node, exp.ArgMax | exp.ArgMin):
        return [node.expression]
    order = node.args.get("order") if isinstance(node, exp.Window) else None
    ordered = [each.this for each in order.expressions] if order is not None else []
    return [*(node.args.get("partition_by") or ()), *ordered]


def passes(node: exp.Expr, noisy: Noisy) -> bool:
    """Return whether a function shows all of the noisy values that it is given, whatever they are.

    Guarantee: such a function has a value in each row in which its arguments have one, and that value does not
        show one of several cells because of what they are.
    """
    rule = PASSING.get(type(node))
    return rule is not None and rule[1](node, noisy)


def _always(_node: Any, _noisy: Noisy) -> bool:
    return True


def _one_noisy(node: Any, noisy: Noisy) -> bool:
    return not (noisy(node.this) and noisy(node.expression))


def _by_what_is_known(node: Any, noisy: Noisy) -> bool:
    return not noisy(node.expression)


def _if_known(node: Any, noisy: Noisy) -> bool:
    return not noisy(node.this)


def _rounded(node: Any, noisy: Noisy) -> bool:
    return not any(noisy(value) for name, value in node.args.items() if name != "this")


def _wide_type(node: Any, _noisy: Noisy) -> bool:
    return bool(node.to.this in _WIDE)


def _by_keys(node: Any, noisy: Noisy) -> bool:
    if isinstance(node.this, _ROW_NUMBERS):
        return True
    order = [node.args["order"]] if node.args.get("order") else []
    by = [*(node.args.get("partition_by") or ()), *order]
    framed = node.args.get("spec") is not None
    return isinstance(node.this, _TOTALS) and not framed and not any(noisy(each) for each in by)


PASSING: dict[type[exp.Expr], tuple[str, Callable[[Any, Noisy], bool]]] = {
    exp.Paren: ("changes nothing", _always),
    exp.Add: ("NULL where an argument is, else a number", _always),
    exp.Sub: ("NULL where an argument is, else a number", _always),
    exp.Neg: ("NULL where its argument is, else a number", _always),
    exp.Mul: ("by what is known; a product of two noisy values overflows", _one_noisy),
    exp.Div: ("by what is known; NULL where a noisy divisor is 0", _by_what_is_known),
    exp.Cast: ("to a type that holds every number and text", _wide_type),
    exp.Round: ("one value to one value", _rounded),
    exp.Floor: ("one value to one value", _rounded),
    exp.Ceil: ("one value to one value", _rounded),
    exp.Array: ("shows all that is in it", _always),
    exp.Sum: ("is made of all rows", _always),
    exp.Avg: ("is made of all rows", _always),
    exp.Count: ("is made of all rows", _always),
    exp.Filter: ("where the condition is on keys", _by_what_is_known),
    exp.Where: ("the condition of FILTER", _always),
    exp.Case: ("where the conditions are on keys", _if_known),
    exp.If: ("where the condition is on keys", _if_known),
    exp.RowNumber: ("a number for each row, and no cell of it", _always),
    exp.Rank: ("a number for each row, and no cell of it", _always),
    exp.DenseRank: ("a number for each row, and no cell of it", _always),
    exp.PercentRank: ("a number for each row, and no cell of it", _always),
    exp.CumeDist: ("a number for each row, and no cell of it", _always),
    exp.Ntile: ("a number for each row, and no cell of it", _always),
    exp.Window: ("numbers of rows; sums, means and counts by keys", _by_keys),
    exp.Order: ("the window that it orders has the rule", _always),
    exp.Ordered: ("the window that it orders has the rule", _always),
}
"""What shows all that it is given: why, and under which condition. Everything else counts as selecting."""


_Cells = frozenset[tuple[int, int]]
_NONE: _Cells = frozenset()


def bars_of(
    node: exp.Query, names: Sequence[str], parts: Sequence[exp.Select]
) -> ErrorBarSources | None:
    """Return which result's rows the outcome shows, None where a row is made of several."""
    found = _traced(node, _keys_of_rows(parts))
    if found is None or len(node.expressions) != len(names):
        return None
    return found


def selection_of(program: Program, part: int) -> LaterSelection:
    """Return how steps may select among the cells of a private query, and of how many such a column is.

    Guarantee: `columns` is at least the number of columns of private queries, this one's among them, whose errors one
        column of the outcome shows, two columns of one query as well as columns of two.
    """
    most = 1
    for output in _traced_outputs(program):
        shown = _errors_shown(output, program)
        if any(of == part for of, _ in shown):
            most = max(most, len(shown))
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
    found = _Tracer(frozenset(keys), _keys_of_rows(program.parts)).outputs(program.after)
    return tuple(source for _, source in found[: len(program.columns)])


def _errors_shown(output: CellSources, program: Program) -> _Cells:
    """Return the cells whose errors an output shows: ends of intervals, chosen values, keys of chosen groups."""
    return output.ends | {
        (part, column)
        for part, column in output.cells
        if is_chosen(program.parts[part].expressions[column]) or _chooses(program.parts[part])
    }


def shows_errors(program: Program) -> bool:
    """Return whether the outcome has a column that shows errors of cells of private queries."""
    bars = program.bars
    passed = [] if bars is None else [column for column in bars.columns if column is not None]
    return any(_errors_shown(output, program) for output in _traced_outputs(program)) or any(
        bars is not None and _is_noisy(program.parts[bars.part].expressions[column])
        for column in passed
    )


def _chooses(select: exp.Select) -> bool:
    """Return whether noise may choose which groups a private query shows, of which it shows the keys alone."""
    cut = select.args.get("limit") is not None and select.args.get("order") is not None
    return cut and not any(_is_noisy(output) for output in select.expressions)


def _has_errors(output: CellSources, program: Program, part: int) -> bool:
    return any(of == part for of, _ in _errors_shown(output, program))


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


_RowKeys = Mapping[int, frozenset[int]]
"""The columns by which no two rows of a result are equal, where they are all there."""


def _keys_of_rows(parts: Sequence[exp.Select]) -> _RowKeys:
    found = {part: _keys_of_row(select) for part, select in enumerate(parts)}
    return {part: keys for part, keys in found.items() if keys is not None}


def _keys_of_row(select: exp.Select) -> frozenset[int] | None:
    """Return the columns that hold all that a private query groups by; None where some of it is not shown."""
    group = select.args.get("group")
    if group is None:
        return frozenset()
    if any(value for clause, value in group.args.items() if clause != "expressions"):
        return None
    outputs = [output.unalias() for output in select.expressions]
    found = set()
    for each in group.expressions:
        if isinstance(each, exp.Literal) and each.name.isdigit():
            place = int(each.name) - 1
        else:
            # Another output's name may be a column's too: what it means is left open.
            place = outputs.index(each) if each in outputs else len(outputs)
        if place >= len(outputs) or _is_noisy(outputs[place]):
            return None
        found.add(place)
    return frozenset(found)


def _told_apart(
    node: exp.Expr, row: frozenset[int] | None, place: Callable[[exp.Expr], int | None]
) -> bool:
    """Return whether no two rows are equal in all by which a window takes them in order; `row`: the keys of each."""
    return row is not None and row <= {place(each) for each in tells_apart(node)}


_GATHERS = ("group", "having", "distinct", "joins")
_Names = Mapping[str, int | None]


def _traced(node: exp.Expr, rows: _RowKeys) -> ErrorBarSources | None:
    """Return the result that a SELECT shows row by row, which column each output is, and what selects.

    `rows`: the columns that tell the rows of results apart.
    """
    if not isinstance(node, exp.Select) or _gathers(node):
        return None
    source = node.args["from_"].this
    if isinstance(source, exp.Table):
        if not source.name.startswith("r"):
            return None
        below = ErrorBarSources(int(source.name[1:]), (), frozenset())
        known: _Names | None = None
    else:
        found = _traced(source.this, rows) if isinstance(source, exp.Subquery) else None
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
    deciding = _deciding(node, (known, written), below.deciding, rows.get(below.part))
    return ErrorBarSources(below.part, columns, deciding, _limit(node, below))


def _deciding(
    node: exp.Select,
    names: tuple[_Names | None, _Names],
    below: frozenset[int] | None,
    row: frozenset[int] | None,
) -> frozenset[int] | None:
    """Return the columns of the result that conditions read, here and below; None where it may be any.

    A name may be one of the source or of an output, so it counts as both. A window that may depend on the order of
    rows, which noise may have put in order, is any; `row`: the columns that tell rows apart.
    """
    found: set[int | None] = set() if below is not None else {None}

    def place(bare: exp.Expr) -> int | None:
        return None if bare.name.lower() in names[1] else _place(bare, names[0])

    for clause in (node.args.get("where"), node.args.get("qualify")):
        if clause is None:
            continue
        if clause.find(exp.Select):
            return None
        for window in clause.find_all(exp.Window):
            if follows_rows(window) and not _told_apart(window, row, place):
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


def _part_of_rows(node: exp.Select, rows: _RowKeys) -> int | None:
    """Return the result of which each row that windows and totals of a SELECT read is another row."""
    if any(node.args.get(clause) for clause in ("group", "joins")) or not node.args.get("from_"):
        return None
    source = node.args["from_"].this
    if isinstance(source, exp.Table):
        return int(source.name[1:]) if source.name.startswith("r") else None
    below = _traced(source.this, rows) if isinstance(source, exp.Subquery) else None
    return None if below is None else below.part


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
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
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
    """Follows outputs to the cells that they are made of.

    `keys`: the cells that carry no noise. `rows`: the columns that tell the rows of results apart.
    """

    def __init__(self, keys: _Cells = _NONE, rows: _RowKeys | None = None) -> None:
        self.keys = keys
        self.rows = rows or {}
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
        found = replace(found, same=False, hides=found.hides or hides, gathers=gathers)
        return found | self._order_of_rows(node, levels)

    def _order_of_rows(self, node: exp.Expr, levels: _Levels) -> CellSources:
        """Return what the order of the rows is made of that a window or total reads; nothing where it has no part.

        Noise may have put them in that order, here or in a private question, so what follows it may carry noise.
        """
        if not follows_rows(node) or _in_window(node):
            return CellSources()
        select = node.parent_select
        if not isinstance(select, exp.Select):
            return CellSources(noisy=True)
        part = _part_of_rows(select, self.rows)
        if part is not None:

            def place(bare: exp.Expr) -> int | None:
                found = self._made_of(bare, levels)
                key = found.same and found.cells <= self.keys and len(found.cells) == 1
                return next(iter(found.cells))[1] if key else None

            if _told_apart(node, self.rows.get(part), place):
                return CellSources()
        cells = _NONE
        for table in self._tables(select):
            cells |= self._deciding(table, cut=True).cells
        return CellSources(cells, noisy=True)

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
