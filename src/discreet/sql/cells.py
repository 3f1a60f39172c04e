"""How one column of a source is read: its canonical value, or NULL for whatever is not declared.

Numbers become whole numbers of steps, so that everything above computes with integers. Categories
stay text, dates stay dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.region import NULL, Positions
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
)
from discreet.engine.functions import TRY_CAST
from discreet.engine.types import Kind, Storage, read_as, storage
from discreet.errors import CatalogError
from discreet.sql.literals import constant, decimal


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a block: `value` is canonical SQL; `raw` is the bare column where it still is one.

    `raw` may be compared with declared values directly: an undeclared value equals none of them.
    """

    value: str
    domain: Domain
    raw: str | None = None


def source_cell(column: Column, bare: str, engine_type: str, dialect: str) -> Cell:
    """Return how a source's column is read, given its bare name and engine type."""
    domain = column.domain
    stored = storage(engine_type)
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            if stored is Storage.INTEGER:
                inside = f"{bare} BETWEEN {lower} AND {upper}"
                return Cell(f"CASE WHEN {inside} THEN CAST({bare} AS BIGINT) END", domain, bare)
            read = read_as(Kind.INTEGER, bare, engine_type=engine_type, dialect=dialect)
            return Cell(f"CASE WHEN {read} BETWEEN {lower} AND {upper} THEN {read} END", domain)
        case NumberDomain():
            return Cell(_steps(domain, bare, engine_type, dialect), domain)
        case CategoryDomain():
            read = bare
            if stored is not Storage.TEXT or dialect == "postgres":
                read = read_as(Kind.TEXT, bare, engine_type=engine_type, dialect=dialect)
            return Cell(declared_text(read, domain, dialect), domain, read)
        case BooleanDomain():
            read = read_as(Kind.BOOLEAN, bare, engine_type=engine_type, dialect=dialect)
            return Cell(read, domain, read)
        case DateDomain(lower=first, upper=last):
            written = bare
            if column.format is not None and stored is Storage.TEXT:
                written = iso_text(bare, column.format)
            read = read_as(Kind.DATE, written, engine_type=engine_type, dialect=dialect)
            if stored is Storage.DATE:
                read = bare
            low, high = constant(first, dialect), constant(last, dialect)
            return Cell(f"CASE WHEN {read} BETWEEN {low} AND {high} THEN {read} END", domain, read)
        case _:
            read = read_as(Kind.TEXT, bare, engine_type=engine_type, dialect=dialect)
            return Cell(bare if stored is Storage.INTEGER else read, domain, bare)


_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2}


def iso_text(bare: str, spelling: str) -> str:
    """Return SQL that rearranges a date of fixed width, such as %d/%m/%Y, into YYYY-MM-DD."""
    places: dict[str, int] = {}
    at, i = 1, 0
    while i < len(spelling):
        code = spelling[i : i + 2]
        if code in _WIDTHS:
            places[code] = at
            at, i = at + _WIDTHS[code], i + 2
        elif spelling[i] == "%" or set(places) == set(_WIDTHS):
            break  # a time of day, or anything after the date, is not read
        else:
            at, i = at + 1, i + 1
    if set(places) != set(_WIDTHS):
        raise CatalogError(
            f"Dates spelled '{spelling}' cannot be read.",
            hint="Use a spelling made of %Y, %m and %d, or convert the column to dates.",
        )
    parts = [f"substr({bare}, {places[code]}, {_WIDTHS[code]})" for code in ("%Y", "%m", "%d")]
    return " || '-' || ".join(parts)


def _steps(domain: NumberDomain, bare: str, engine_type: str, dialect: str) -> str:
    """Return the nearest whole number of steps, ties upwards; NULL outside the declared range."""
    low, high = int(domain.lower / domain.step), int(domain.upper / domain.step)
    stored = storage(engine_type)
    read = bare
    if stored not in {Storage.INTEGER, Storage.DECIMAL, Storage.NUMBER}:
        read = read_as(Kind.NUMBER, bare, engine_type=engine_type, dialect=dialect)
    inverse = 1 / domain.step
    factor = decimal(inverse) if inverse.denominator == 1 else None
    # A step of 5 is written as 5.0: between two integers PostgreSQL would cut off the fraction.
    whole = ".0" if domain.step.denominator == 1 else ""
    scaled = f"{read} * {factor}" if factor else f"{read} / {decimal(domain.step)}{whole}"
    if stored is Storage.INTEGER and factor:
        nearest = f"CAST({read} AS BIGINT) * {factor}"
    else:
        nearest = f"{TRY_CAST[dialect]}(FLOOR({scaled} + 0.5) AS BIGINT)"
    inside = f"{read} >= {decimal(domain.lower)} AND {read} <= {decimal(domain.upper)}"
    if dialect == "duckdb" and stored is Storage.NUMBER:
        inside += f" AND NOT isnan({read})"  # see TRY_CAST: the comparisons may let it pass
    if _rounds_inside(domain, engine_type):
        return f"CASE WHEN {inside} THEN {nearest} END"
    # Rounding may pass an end by one step; the declared range holds whatever the machine does.
    return f"CASE WHEN {inside} THEN GREATEST({low}, LEAST({high}, {nearest})) END"


def _rounds_inside(domain: NumberDomain, engine_type: str) -> bool:
    """Return whether the nearest step of every value in the range is in the range for certain.

    Guarantee: in IEEE doubles multiplying by a whole number, adding 0.5 and rounding down are each
        monotone, and they keep both ends where they are if these are whole numbers and all products
        are below 2^51; so everything between the ends stays between them. Integers times a whole
        number do not round at all.
    """
    inverse = 1 / domain.step
    if inverse.denominator != 1:
        return False
    if storage(engine_type) is Storage.INTEGER:
        return True
    whole = domain.lower.denominator == 1 and domain.upper.denominator == 1
    largest = (abs(domain.lower) + abs(domain.upper) + 1) * inverse
    double = engine_type.strip().lower() in {"double", "double precision", "float8"}
    return double and whole and largest < 2**51


def declared_text(read: str, domain: CategoryDomain, dialect: str) -> str:
    """Return a text that is on the declared list, or NULL."""
    if dialect == "duckdb":
        # The same as the CASE below; but DuckDB looks an ENUM's values up by hash, and walks
        # through the list of an IN inside a CASE: ten times slower for 50 values.
        listed = ", ".join(constant(value, dialect) for value in domain.values)
        return f"CAST(TRY_CAST({read} AS ENUM({listed})) AS VARCHAR)"
    return f"CASE WHEN {_any_of(read, domain.values, dialect)} THEN {read} END"


def _any_of(read: str, values: tuple[str, ...], dialect: str) -> str:
    return f"{read} IN ({', '.join(constant(value, dialect) for value in values)})"


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
        parts.append(f"({cell.value}) IS NULL")
    return f"({' OR '.join(parts)})" if parts else "FALSE"


def _known(cell: Cell, positions: Positions, dialect: str) -> str:
    domain, target = cell.domain, cell.raw or f"({cell.value})"
    match domain:
        case CategoryDomain(values=values):
            listed = tuple(values[p] for low, high in positions.spans for p in range(low, high + 1))
            return _any_of(target, listed, dialect)
        case BooleanDomain():
            if len(positions) == 2:
                return f"{target} IS NOT NULL"
            return target if 1 in positions else f"NOT {target}"
        case NumberDomain(lower=lower, step=step):
            offset = int(lower / step)
            spans = [(str(low + offset), str(high + offset)) for low, high in positions.spans]
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


def step_of(domain: Domain) -> Fraction:
    """Return what one unit of a numeric column's SQL value stands for."""
    return domain.step if isinstance(domain, NumberDomain) else Fraction(1)
