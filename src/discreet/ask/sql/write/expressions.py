"""Plan expressions to SQL over the cells of a block. Numbers are whole numbers of steps throughout.

A cell is a column of a block of SQL. Functions of text that engines compute are total on every value, and the same
wherever they are had.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import CurvePiece, computes, tabulated
from discreet.ask.plan.expr import Expr, Operator, common_step, lattice, points, seconds_since
from discreet.ask.plan.kinds import SCALARS, planned
from discreet.ask.plan.values import FINER, curve_of, infer, infer_by_rule
from discreet.base.event import NULL, Positions
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import function
from discreet.errors import QueryRefused
from discreet.privacy.kernel.cells import constant
from discreet.privacy.kernel.seal import MOST_PARTS


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a block: `value` is canonical SQL; `raw` is the bare column where it still is one.

    `raw` may be compared with declared values only: on DuckDB a category is stored as an ENUM, which
    knows no other values. `value` is a text there and may be compared with anything.
    """

    value: str
    domain: Domain
    raw: str | None = None
    held: tuple[int, int] | None = None
    """The whole numbers that the SQL itself holds `value` between, where it does."""
    grouped: str | None = None
    """The column that is stored beside this one, of the same values, to be grouped by."""


def carried(cell: Cell, place: str) -> tuple[str, Cell]:
    """Return what a subquery carries along for a cell, and the cell that it becomes.

    A stored category becomes a text only afterwards, for the rows that are left. Only a column that
    was its own clamp still is one under its new name.
    """
    if isinstance(cell.domain, CategoryDomain) and cell.raw not in {None, cell.value}:
        return str(cell.raw), Cell(f"CAST({place} AS VARCHAR)", cell.domain, place)
    held = cell.held if cell.raw == cell.value else None
    return cell.value, Cell(place, cell.domain, place, held=held)


def whole_range(domain: Domain) -> tuple[int, int] | None:
    """Return the whole numbers that a canonical number lies between, None for other domains."""
    found = lattice(domain)
    return None if found is None else (int(found[0] / found[2]), int(found[1] / found[2]))


def clamped(value: str, low: int, high: int, *, cast: bool = False) -> str:
    """Return `value` held between two whole numbers, in the form that the kernel knows.

    Not GREATEST and LEAST, which skip NULL. `cast` narrows what only then is known to be narrow.
    """
    other = f"CAST({value} AS BIGINT)" if cast else value
    return (
        f"CASE WHEN {value} > {high} THEN {high} WHEN {value} < {low} THEN {low} ELSE {other} END"
    )


def bare_of(cell: Cell) -> str:
    """Return the column itself where a cell still is one, else its value in brackets."""
    return cell.raw or f"({cell.value})"


def in_positions(cell: Cell, positions: Positions, dialect: str) -> str | None:
    """Return the condition that a column lies at these positions; None where it always does."""
    domain = cell.domain
    size = domain.size  # type: ignore[union-attr]  # a box only names finite columns
    if positions == Positions.whole(size):
        return None
    known = Positions.of((max(low, 0), high) for low, high in positions.spans)
    parts = []
    if known:
        parts.append(_known(cell, known, dialect))
    if NULL in positions:
        parts.append(f"{bare_of(cell)} IS NULL")
    return f"({' OR '.join(parts)})" if parts else "FALSE"


def _known(cell: Cell, positions: Positions, dialect: str) -> str:
    domain, target = cell.domain, bare_of(cell)
    match domain:
        case CategoryDomain(values=values):
            listed = tuple(values[p] for low, high in positions.spans for p in range(low, high + 1))
            return f"{target} IN ({', '.join(constant(value, dialect) for value in listed)})"
        case BooleanDomain():
            if len(positions) == 2:
                return f"{target} IN (TRUE, FALSE)"
            return target if 1 in positions else f"NOT {target}"
        case NumberDomain(lower=lower, step=step):
            offset = int(lower / step)
            spans = [(str(low + offset), str(high + offset)) for low, high in positions.spans]
        case TimestampDomain(lower=begin, step=seconds):
            first = int(seconds_since(begin) / seconds)
            spans = [(str(low + first), str(high + first)) for low, high in positions.spans]
        case _:
            spans = [
                (constant(domain.value(low), dialect), constant(domain.value(high), dialect))  # type: ignore[union-attr]  # finite
                for low, high in positions.spans
            ]
    between = [
        f"{target} = {low}" if low == high else f"{target} BETWEEN {low} AND {high}"
        for low, high in spans
    ]
    return between[0] if len(between) == 1 else f"({' OR '.join(between)})"


def engine_call(node: e.Call, value: str, dialect: str) -> str:
    """Return the SQL of a function that engines compute; a count between its two bounds."""
    row = SCALARS[node.function]
    spelling = row.sql.get(dialect) if isinstance(row.sql, Mapping) else row.sql
    if spelling is None:
        known = " or ".join(row.sql) if isinstance(row.sql, Mapping) else "none"
        raise QueryRefused(
            f"{node.function.upper()} over so many values needs another engine: {known}.",
            hint="Use LIKE, or declare the values of the column.",
            construct="pattern",
        )
    given = [
        constant(option, dialect) if isinstance(option, str) else str(_whole(option))
        for option in node.options
    ]
    found = spelling(value, given, node.options)
    if row.between is None:
        return found
    return clamped(f"CAST({found} AS BIGINT)", *row.between)


def _whole(option: object) -> int:
    if not isinstance(option, int) or isinstance(option, bool) or option < 0:
        raise QueryRefused(
            "Free text is cut at whole numbers from 0 on only.",
            hint="Count from the beginning of the text.",
            construct="text",
        )
    return option


def like(node: e.Like, value: str, dialect: str) -> str:
    """Return LIKE without an escape sign; a text in small letters for ILIKE."""
    row = DIALECTS[dialect]
    if "\\" in node.pattern and row.escapes_in_like:
        raise QueryRefused(
            "A backslash in LIKE means different things to different engines.",
            hint="Use _ for that sign.",
            construct="text",
        )
    if row.backtracks and node.pattern.count("%") > MOST_PARTS:
        raise QueryRefused(
            f"LIKE with more than {MOST_PARTS} % over free text takes too long on this engine.",
            hint="Put several LIKE together with AND.",
            construct="text",
        )
    pattern = node.pattern.lower() if node.ignore_case else node.pattern
    written = f"LOWER({value})" if node.ignore_case else value
    return f"({written} LIKE {constant(pattern, dialect)})"


def joined(parts: list[str], dialect: str) -> str:
    """Return texts one behind the other."""
    found = f"CAST({parts[0]} AS {DIALECTS[dialect].text})" if len(parts) == 1 else parts[0]
    for part in parts[1:]:
        found = f"({found} || {part})"
    return found


LONGEST = 2_000_000
"""Characters of one SELECT in SQL, and so of each expression in it."""

LONG_RUN = 5
"""Days from which on a range is shorter to write, and to read, than a list."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes expressions for one dialect over one block's cells."""

    cells: Mapping[str, Cell]
    dialect: str

    @property
    def fields(self) -> dict[str, Domain]:
        """Return the domain of each cell."""
        return {name: cell.domain for name, cell in self.cells.items()}

    def domain(self, expr: Expr) -> Domain:
        """Return the domain of an expression."""
        return infer(expr, self.fields)

    def step(self, expr: Expr) -> Fraction:
        """Return what one unit of a numeric expression's SQL stands for."""
        return _step(self.domain(expr))

    def _rule_step(self, expr: Expr) -> Fraction:
        # A tabulated domain can have a coarser step than its parts show: 2 * x + 2 * x.
        return _step(infer_by_rule(expr, self.fields))

    def holds(self, written: str, clamp: tuple[int, int]) -> bool:
        """Return whether this is a column that is held between these whole numbers already."""
        return any(cell.value == written and cell.held == clamp for cell in self.cells.values())

    def write(self, expr: Expr) -> str:
        """Return SQL for `expr`: integers in steps, text, dates or truth values in three-valued logic."""
        if isinstance(expr, e.ColumnRef):
            return self.cells[expr.name].value
        if isinstance(expr, e.Literal):
            return self._literal(expr.value, self.step(expr))
        table = None if computes(expr) else tabulated(expr, self.fields)
        if table is not None:
            return self._table(expr, table)
        written = self._computed(expr)
        short(len(written))
        return self._counted(written, self._rule_step(expr) / self.step(expr))

    def scaled(self, expr: Expr, step: Fraction) -> str:
        """Return a numeric expression counted in `step`, of which its values must be multiples."""
        if isinstance(expr, e.Literal):
            return self._literal(expr.value, step)
        return self._counted(self.write(expr), self.step(expr) / step)

    def _counted(self, written: str, factor: Fraction) -> str:
        """Return `written` times `factor`; the caller knows that the result is whole."""
        if factor == 1:
            return written
        if factor.numerator != 1:
            written = f"({written}) * {factor.numerator}"
        if factor.denominator == 1:
            return written
        return function("divide", self.dialect, written, str(factor.denominator))

    def _literal(self, value: Any, step: Fraction) -> str:
        if isinstance(value, dt.datetime):
            value = seconds_since(value)
        if isinstance(value, int | Fraction) and not isinstance(value, bool):
            return str(int(Fraction(value) / step))
        return constant(value, self.dialect)

    def _table(self, expr: Expr, table: list[Any]) -> str:
        """Return a CASE that looks the value up: the expression depends on one small column."""
        (name,) = e.columns_of(expr)
        cell = self.cells[name]
        step = self.step(expr)
        inputs = [None, *points(cell.domain)]  # type: ignore[arg-type]  # tabulated: finite
        by_value: dict[Any, list[Any]] = {}
        for given, value in zip(inputs, table, strict=True):
            by_value.setdefault(value, []).append(given)
        of_null = table[0]
        short(len(by_value) * len(cell.value))
        branches = []
        for value, givens in by_value.items():
            known = [given for given in givens if given is not None]
            if value is None or not known:
                continue
            inside = self._one_of(cell, known)
            branches.append(f"WHEN {inside} THEN {self._literal(value, step)}")
        if of_null is not None:
            branches.append(f"WHEN ({cell.value}) IS NULL THEN {self._literal(of_null, step)}")
        if not branches:
            return "NULL"
        written = f"CASE {' '.join(branches)} END"
        return written if lattice(self.domain(expr)) is None else _wide(written)

    def _one_of(self, cell: Cell, givens: list[Any]) -> str:
        """Return the condition that a cell is one of these values; long runs of days as ranges."""
        if not isinstance(cell.domain, DateDomain) or len(givens) < LONG_RUN:
            listed = ", ".join(self._input(given, cell.domain) for given in givens)
            return f"({cell.value}) IN ({listed})"
        runs: list[list[Any]] = []
        for given in sorted(givens):
            if runs and (given - runs[-1][1]).days == 1:
                runs[-1][1] = given
            else:
                runs.append([given, given])
        ends = [[self._input(end, cell.domain) for end in run] for run in runs]
        parts = [f"({cell.value}) BETWEEN {low} AND {high}" for low, high in ends]
        return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"

    def _input(self, value: Any, domain: Domain) -> str:
        return self._literal(value, _unit(domain))

    def _computed(self, expr: Expr) -> str:
        match expr:
            case e.Arithmetic():
                return self._arithmetic(expr)
            case e.Negate(operand=operand):
                return f"-({self.write(operand)})"
            case e.Case() | e.Coalesce() | e.Extreme():
                return self._branches(expr)
            case e.DatePart(part=part, operand=operand):
                return self._date_part(part, operand)
            case e.Concat(operands=operands):
                return joined([f"({self.write(part)})" for part in operands], self.dialect)
            case e.Call(operand=operand) if isinstance(self.domain(operand), TextDomain):
                return engine_call(expr, f"({self.write(operand)})", self.dialect)
            case e.Call():
                return self._call(expr)
            case _:
                return self._logic(expr)

    def _logic(self, expr: Expr) -> str:
        match expr:
            case e.Compare(comparison=comparison, left=left, right=right):
                one, two = self._pair(left, right)
                return f"({one} {comparison.value} {two})"
            case e.And(operands=operands):
                return f"({' AND '.join(map(self.write, operands))})"
            case e.Or(operands=operands):
                return f"({' OR '.join(map(self.write, operands))})"
            case e.Not(operand=operand):
                return f"(NOT {self.write(operand)})"
            case e.IsNull(operand=operand):
                return f"(({self.write(operand)}) IS NULL)"
            case e.In(operand=operand, values=values):
                return self._in(operand, values)
            case e.Like(operand=operand):
                return like(expr, f"({self.write(operand)})", self.dialect)
            case _:
                raise AssertionError(type(expr).__name__)

    def _pair(self, left: Expr, right: Expr) -> tuple[str, str]:
        if isinstance(self.domain(left), TimestampDomain):
            return self._moments(left, right)
        if lattice(self.domain(left)) is None:
            return f"({self.write(left)})", f"({self.write(right)})"
        step = common_step(self.step(left), self.step(right))
        return f"({self.scaled(left, step)})", f"({self.scaled(right, step)})"

    def _moments(self, left: Expr, right: Expr) -> tuple[str, str]:
        """Return two moments counted in one step."""
        step = Fraction(0)
        for side in (left, right):
            moment = side.value if isinstance(side, e.Literal) else None
            unit = _unit(self.domain(side))
            exact = seconds_since(moment) if isinstance(moment, dt.datetime) else unit
            step = common_step(step, exact)
        one, two = (
            self._literal(side.value, step)
            if isinstance(side, e.Literal)
            else self._counted(self.write(side), _unit(self.domain(side)) / step)
            for side in (left, right)
        )
        return f"({one})", f"({two})"

    def _arithmetic(self, expr: e.Arithmetic) -> str:
        if isinstance(self.domain(expr.left), DateDomain):
            left, right = self.write(expr.left), self.write(expr.right)
            first = function("day_number", self.dialect, left)
            return f"({first} - {function('day_number', self.dialect, right)})"
        step = self._rule_step(expr)
        match expr.operator:
            case Operator.ADD | Operator.SUBTRACT:
                left, right = self.scaled(expr.left, step), self.scaled(expr.right, step)
                return f"({left} {expr.operator.value} {right})"
            case Operator.MULTIPLY:
                return self._product(expr.left, expr.right, step)
            case Operator.DIVIDE if not isinstance(expr.right, e.Literal):
                return self._quotient(expr)
            case Operator.DIVIDE:
                written = self.write(expr.left)
                return f"-({written})" if expr.right.value < 0 else written  # type: ignore[union-attr,operator]  # a constant, by inference
            case _:
                return self._floor(expr)

    def _product(self, left: Expr, right: Expr, step: Fraction) -> str:
        """Return a product counted in `step`; a constant is one step of its own, and is not written."""
        one, two = self.step(left), self.step(right)
        factors = [self.scaled(left, one), self.scaled(right, two), str(int(one * two / step))]
        written = [factor for factor in factors if factor != "1"] or ["1"]
        if len(written) == 1:
            return written[0]
        return f"({' * '.join(f'({factor})' for factor in written)})"

    def _quotient(self, expr: e.Arithmetic) -> str:
        """Return a number over a positive one in whole steps, NULL over 0.

        The divisor is held at 1 or more by a clamp, so that no engine can ever divide by 0.
        """
        top = f"CAST(({self.write(expr.left)}) AS BIGINT) * {FINER}"
        bottom, found = self.write(expr.right), lattice(self.domain(expr.right))
        assert found is not None, "divisors are numbers"
        most = int(found[1] / found[2])
        held = clamped(bottom, 1, most, cast=True)
        whole = function("whole_quotient", self.dialect, top, held)
        return f"CASE WHEN ({bottom}) > 0 THEN {whole} END"

    def _floor(self, expr: e.Arithmetic) -> str:
        divisor = Fraction(expr.right.value)  # type: ignore[union-attr,arg-type]  # a constant, by inference
        quotient = self._floor_divide(expr.left, divisor)
        if expr.operator is Operator.FLOOR_DIVIDE:
            return quotient
        step = self._rule_step(expr)
        return f"({self.scaled(expr.left, step)} - ({quotient}) * {int(divisor / step)})"

    def _floor_divide(self, operand: Expr, divisor: Fraction) -> str:
        """Return floor(operand / divisor); shifted first, since engines truncate towards zero."""
        found = lattice(self.domain(operand))
        assert found is not None
        low, _, step = found
        ratio = divisor / step
        numerator, denominator = ratio.numerator, ratio.denominator
        shift = math.floor(low / divisor)
        shifted = self._counted(self.write(operand), Fraction(denominator))
        if shift:
            shifted = f"({shifted}) - {shift * numerator}"
        quotient = function("divide", self.dialect, shifted, str(numerator))
        return f"({quotient} + {shift})" if shift else f"({quotient})"

    def _in(self, operand: Expr, values: tuple[Any, ...]) -> str:
        found = lattice(self.domain(operand))
        listed = []
        for value in values:
            if found is None:
                listed.append(constant(value, self.dialect))
            elif value is None:
                listed.append("NULL")
            elif (
                isinstance(value, int | Fraction) and (Fraction(value) / found[2]).denominator == 1
            ):
                listed.append(str(int(Fraction(value) / found[2])))
        written = self.write(operand)
        if listed:
            return f"({written}) IN ({', '.join(listed)})"
        # No value of the column can be among them; what is missing is still neither in nor out.
        return f"(CASE WHEN ({written}) IS NOT NULL THEN FALSE END)"

    def _branches(self, expr: e.Case | e.Coalesce | e.Extreme) -> str:
        numeric = lattice(self.domain(expr)) is not None
        written = self._chosen(expr, numeric=numeric)
        short = numeric and all(map(self._one_value, _values(expr)))
        return _wide(written) if short else written

    def _one_value(self, part: Expr) -> bool:
        """Return whether an engine could read this as a small constant, be it one of an inner SELECT."""
        found = None if isinstance(part, e.Literal) else lattice(self.domain(part))
        return isinstance(part, e.Literal) or (found is not None and found[0] == found[1])

    def _chosen(self, expr: e.Case | e.Coalesce | e.Extreme, *, numeric: bool) -> str:
        step = self._rule_step(expr)

        def value(part: Expr) -> str:
            null = isinstance(part, e.Literal) and part.value is None
            return "NULL" if null else self.scaled(part, step) if numeric else self.write(part)

        match expr:
            case e.Coalesce(operands=operands):
                return f"COALESCE({', '.join(map(value, operands))})"
            case e.Extreme(greatest=greatest, operands=operands):
                # Engines disagree on NULL in LEAST; here any NULL makes the result NULL.
                written = [value(part) for part in operands]
                present = " AND ".join(f"({part}) IS NOT NULL" for part in written)
                name = "GREATEST" if greatest else "LEAST"
                return f"CASE WHEN {present} THEN {name}({', '.join(written)}) END"
            case _:
                parts = [
                    f"WHEN {self.write(when)} THEN {value(then)}" for when, then in expr.branches
                ]
                return f"CASE {' '.join(parts)} ELSE {value(expr.otherwise)} END"

    def _date_part(self, part: e.Part, operand: Expr) -> str:
        written = self.write(operand)
        if part is e.Part.WEEKDAY:
            # ISO weekdays run from Monday = 1; ours count from Sunday = 0.
            iso = function("weekday", self.dialect, written)
            return function("modulo", self.dialect, iso, "7")
        return function(part.value, self.dialect, written)

    def _call(self, expr: e.Call) -> str:
        row, added = SCALARS[expr.function], planned(expr.function)
        if expr.function in {"number", "moment"}:
            return self.write(expr.operand)
        if added is not None and added.rewritten is not None:
            return self._computed(added.rewritten(expr.operand))
        if row.sql is not None:
            return engine_call(expr, self.write(expr.operand), self.dialect)
        return self._drawn(expr)

    def _drawn(self, expr: e.Call) -> str:
        """Return a curve in straight pieces: the right one is found by halving."""
        drawn = curve_of(expr, self.fields)
        if drawn is None:
            return "NULL"
        y = f"({self.write(expr.operand)})"
        short(len(y) * 3 * len(drawn.pieces))
        found = self._halved(y, drawn.pieces)
        return _wide(f"CASE WHEN {y} >= {drawn.pieces[0].first} THEN {found} END")

    def _halved(self, y: str, pieces: tuple[CurvePiece, ...]) -> str:
        if len(pieces) > 1:
            middle = len(pieces) // 2
            below, above = (self._halved(y, part) for part in (pieces[:middle], pieces[middle:]))
            return f"CASE WHEN {y} < {pieces[middle].first} THEN {below} ELSE {above} END"
        (piece,) = pieces
        if not piece.rise:
            return str(piece.value)
        # Downwards by what is not negative: engines round other quotients differently.
        along = f"(CAST({y} AS BIGINT) - {piece.first}) * {abs(piece.rise)}"
        if piece.run > 1:
            along = function("whole_quotient", self.dialect, along, str(piece.run))
        return f"({piece.value} {'+' if piece.rise > 0 else '-'} {along})"


def _unit(domain: Domain) -> Fraction:
    """Return what one whole number in SQL stands for: a step, or seconds of a moment."""
    return Fraction(domain.step) if isinstance(domain, TimestampDomain) else _step(domain)


def _step(domain: Domain) -> Fraction:
    found = lattice(domain)
    return Fraction(1) if found is None else found[2]


def short(length: int) -> None:
    """Refuse text that an engine would only choke on, before it is put together."""
    if length > LONGEST:
        raise QueryRefused(
            "The SQL of this question would be millions of characters long.",
            hint="Use simpler expressions, or columns with fewer declared values.",
            construct="too large",
        )


def _wide(written: str) -> str:
    # An engine reads a small constant as 32 bits, and what is made of constants overflows there.
    return f"CAST({written} AS BIGINT)"


def _values(expr: e.Case | e.Coalesce | e.Extreme) -> tuple[Expr, ...]:
    """Return the expressions of which one is the value."""
    if isinstance(expr, e.Case):
        return (*(value for _, value in expr.branches), expr.otherwise)
    return expr.operands
