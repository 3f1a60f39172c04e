"""Columns of a block of SQL, and the condition that one lies at some positions of its domain."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.region import NULL, Positions
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Domain,
    NumberDomain,
    TimestampDomain,
)
from discreet.kernel.cells import constant
from discreet.plan.expr import lattice, seconds_since


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
