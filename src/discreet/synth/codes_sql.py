"""The generated SQL that turns private rows into codes: canonical, bounded, one small number a cell."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.engine.base import Engine
from discreet.engine.functions import function
from discreet.errors import InternalError
from discreet.kernel.literals import constant
from discreet.plan.ir import Scan
from discreet.plan.stability import bound_rows, structural_rows
from discreet.sql.blocks import Block, BlockWriter
from discreet.sql.cells import Cell
from discreet.synth.columns import Coded

LONGEST_WORD = 200
"""Texts of more characters are never learned as a category; they count as missing."""


def rows_of_unit(scan: Scan) -> int:
    """Return how many rows of one unit reach the codes at most: the SQL below enforces it."""
    known = structural_rows(scan)
    return bound_rows(scan) if known is None else known


def rows_block(scan: Scan, engine: Engine, names: Sequence[str]) -> Block:
    """Return the canonical rows of a table with these columns, bounded where a person has several.

    Guarantee: at most `rows_of_unit` rows of one unit, chosen from the unit's own rows alone.
    """
    used = frozenset(map(scan.id_of, names))
    if scan.unit is not None:
        used |= {scan.unit}
    writer = BlockWriter(engine, used)
    block = writer.block(scan)
    if structural_rows(scan) is not None:
        return block
    return writer.bounded(block, bound_rows(scan))


def cell_of(block: Block, scan: Scan, name: str) -> Cell:
    """Return the canonical value of one column of a block."""
    return block.cells[scan.id_of(name)]


def codes_sql(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> str:
    """Return the SELECT of all codes, c0, c1, ...: rows with an undeclared gap are left out."""
    block = rows_block(scan, engine, [column.name for column in columns])
    dialect = engine.capabilities.dialect
    small = "SHORT" if dialect == "spark" else "SMALLINT"
    # Positions first, bins around them: otherwise each edge of a bin would compute its cell again.
    inner = [
        f"{place_sql(cell_of(block, scan, column.name), column, dialect)} AS p{i}"
        for i, column in enumerate(columns)
    ]
    outer = [
        f"CAST({code_sql(f'p.p{i}', column, dialect)} AS {small}) AS c{i}"
        for i, column in enumerate(columns)
    ]
    complete = [f"p.p{i} IS NOT NULL" for i, column in enumerate(columns) if not column.missing]
    where = f" WHERE {' AND '.join(complete)}" if complete else ""
    places = f"SELECT {', '.join(inner)} {block.body()}"
    return f"SELECT {', '.join(outer)} FROM ({places}) AS p{where}"


def place_sql(cell: Cell, column: Coded, dialect: str) -> str:
    """Return SQL for the position of a cell in its column's domain, NULL where it has none."""
    domain = column.domain
    if isinstance(domain, CategoryDomain):
        return _place_in_list(cell, domain.values, dialect)
    if isinstance(domain, BooleanDomain):
        return f"CASE WHEN {cell.value} THEN 1 WHEN NOT ({cell.value}) THEN 0 END"
    return position_sql(cell, domain, dialect)


def code_sql(place: str, column: Coded, dialect: str) -> str:
    """Return SQL for the code of a position; the last code where NULL has one of its own."""
    found = place
    if column.edges is not None:
        found = cell_sql(place, column.edges, dialect)
    elif column.open_ends:
        found = clamped_sql(place, column.positions)
    return f"COALESCE({found}, {column.values})" if column.missing else found


def _place_in_list(cell: Cell, values: Sequence[str], dialect: str) -> str:
    listed_raw = cell.raw is not None and isinstance(cell.domain, CategoryDomain)
    text = cell.raw if listed_raw else cell.value
    if dialect == "duckdb":
        # Looked up by hash; a CASE walks through the list.
        listed = ", ".join(constant(value, dialect) for value in values)
        return f"enum_code(TRY_CAST({text} AS ENUM({listed})))"
    cases = " ".join(f"WHEN {constant(value, dialect)} THEN {i}" for i, value in enumerate(values))
    return f"CASE {text} {cases} END"


def position_sql(cell: Cell, domain: Domain, dialect: str) -> str:
    """Return SQL for the position of a number or day, counted from the lower bound of `domain`.

    The cell may have been read with a wider domain: then the position can lie outside.
    """
    match domain:
        case IntegerDomain(lower=lower):
            return _minus(cell.value, lower)
        case NumberDomain(lower=lower, step=step):
            own = cell.domain.step if isinstance(cell.domain, NumberDomain) else Fraction(1)
            shifted = _minus(cell.value, int(lower / own))
            # A learned range may count in coarser steps than the declared one.
            coarser = step / own
            if coarser == 1:
                return shifted
            return function("divide", dialect, shifted, str(int(coarser)))
        case DateDomain(lower=first):
            return _minus(function("day_number", dialect, cell.value), _day_number(first))
        case TimestampDomain(lower=moment):
            return _minus(function("day_number", dialect, cell.value), _day_number(moment.date()))
        case _:
            raise InternalError("only numbers and days have positions")


def cell_sql(position: str, edges: Sequence[int], dialect: str) -> str:
    """Return SQL for the bin of a position: below the second edge 0, and so on; NULL stays NULL.

    Runs of equally wide bins are divided instead of compared, and the run is found by halving: a
    row passes a few comparisons, not one for each of a thousand edges.
    """
    runs = _runs(edges)
    found = _halved(position, runs, dialect)
    return f"CASE WHEN {position} IS NOT NULL THEN {found} END"


@dataclass(frozen=True, slots=True)
class _Run:
    """Bins `first`, `first` + 1, ... `last`, from `start` on, each `width` positions wide."""

    start: int
    width: int
    first: int
    last: int


def _runs(edges: Sequence[int]) -> list[_Run]:
    found: list[_Run] = []
    for i, edge in enumerate(edges):
        width = edges[i + 1] - edge if i + 1 < len(edges) else 0
        before = found[-1] if found else None
        if before is not None and width in (0, before.width):
            # The last bin has no end: whatever its width, it may close a run.
            found[-1] = replace(before, last=i)
        else:
            found.append(_Run(edge, width, i, i))
    return found


def _halved(position: str, runs: Sequence[_Run], dialect: str) -> str:
    if len(runs) > 1:
        middle = len(runs) // 2
        below = _halved(position, runs[:middle], dialect)
        above = _halved(position, runs[middle:], dialect)
        return f"CASE WHEN {position} < {runs[middle].start} THEN {below} ELSE {above} END"
    (run,) = runs
    if run.first == run.last:
        return str(run.first)
    # Below the first edge only where ends are open; those count in the first bin.
    behind = run.start + run.width * (run.last - run.first)
    divided = function("divide", dialect, f"{position} - {run.start}", str(run.width))
    return (
        f"CASE WHEN {position} < {run.start} THEN {run.first} "
        f"WHEN {position} >= {behind} THEN {run.last} ELSE {run.first} + {divided} END"
    )


def clamped_sql(position: str, positions: int) -> str:
    """Return SQL for a position held inside 0 .. positions - 1 by an explicit CASE."""
    last = positions - 1
    return (
        f"CASE WHEN {position} < 0 THEN 0 WHEN {position} > {last} THEN {last} ELSE {position} END"
    )


def _minus(value: str, lower: int) -> str:
    return f"(({value}) - ({lower}))" if lower else f"({value})"


def _day_number(day: dt.date) -> int:
    return (day - dt.date(1970, 1, 1)).days
