"""How one cell of a source is read: its canonical value, or NULL for whatever is not declared.

Numbers become whole numbers of steps, so that everything above computes with integers. Categories
stay text, dates stay dates, a moment is its day and, in a column of its own, the second of it.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.engine.dialect.functions import function
from discreet.engine.dialect.storage import ColumnKind, Storage, storage
from discreet.engine.dialect.types import can_read, read_as, second_of_day, within_64_bits
from discreet.engine.dialects import DIALECTS
from discreet.errors import CatalogError
from discreet.kernel.canonical.literals import constant, decimal

_KINDS = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
}
_BIGINTS = frozenset({"tinyint", "smallint", "integer", "int", "bigint", "utinyint", "usmallint"})
_BIGINTS |= {"uinteger", "int2", "int4", "int8", "byte", "short", "long"}


LONGEST_CELL = 10_000
"""Letters of a text cell; what follows is cut off, so that no cell is longer than one can say."""


def source_cell(column: Column, bare: str, engine_type: str, dialect: str) -> str:
    """Return SQL for the canonical value of a column, given its bare name and engine type.

    The cell is in plain spelling already (see `spelled`).

    Guarantee: total, and a function of the cell, of what is declared and of the engine type alone;
        every value is inside the declared domain, everything else is NULL.
    """
    if column.moment is not None:
        day = replace(column, domain=column.moment, moment=None)
        inside = source_cell(day, bare, engine_type, dialect)
        second = second_of_day(bare, engine_type=engine_type, dialect=dialect)
        return f"CASE WHEN {inside} IS NOT NULL THEN {second} END"
    domain = column.by_day().domain
    stored = storage(engine_type)
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            if stored is Storage.INTEGER:
                read = within_64_bits(bare, engine_type, dialect)
                inside = f"{read} BETWEEN {lower} AND {upper}"
                return f"CASE WHEN {inside} THEN CAST({read} AS BIGINT) END"
            read = read_as(ColumnKind.INTEGER, bare, engine_type=engine_type, dialect=dialect)
            return f"CASE WHEN {read} BETWEEN {lower} AND {upper} THEN {read} END"
        case NumberDomain():
            return _steps(domain, bare, engine_type, dialect)
        case CategoryDomain():
            read = bare
            if stored is not Storage.TEXT or DIALECTS[dialect].collates:
                read = read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
            return declared_text(read, domain, dialect)
        case BooleanDomain():
            return read_as(ColumnKind.BOOLEAN, bare, engine_type=engine_type, dialect=dialect)
        case DateDomain(lower=first, upper=last):
            read = read_as(ColumnKind.DATE, bare, engine_type=engine_type, dialect=dialect)
            if stored is Storage.DATE:
                read = bare
            low, high = constant(first, dialect), constant(last, dialect)
            return f"CASE WHEN {read} BETWEEN {low} AND {high} THEN {read} END"
        case _:
            read = read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
            return f"SUBSTR({read}, 1, {LONGEST_CELL})"


def unit_cell(column: Column, bare: str, engine_type: str, dialect: str, *, whole: bool) -> str:
    """Return SQL for whose row it is: an integer, or a text compared by its bytes.

    `whole`: the column is stored as integers that fit into 64 bits, and they are wanted as such.

    Guarantee: one value in every table and for every use: '7' and '07' are one person where the
        column is declared an integer, and two where it is not. A whole number is one person however
        it is stored (`person_text`).
    """
    if whole:
        return f"CAST({bare} AS BIGINT)"
    if isinstance(column.domain, IntegerDomain):
        return read_as(ColumnKind.INTEGER, bare, engine_type=engine_type, dialect=dialect)
    return person_text(bare, engine_type, dialect)


def person_text(bare: str, engine_type: str, dialect: str) -> str:
    """Return SQL for the text that a person goes by, or a key that leads to one.

    Guarantee: total; a whole number is one text however it is stored: 7 and '7', 7.0 as a double or a
        text, 7.00 as a decimal. So nobody becomes two where a writer makes integers doubles because
        one of them is missing.
    """
    text = read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
    if storage(engine_type) not in {Storage.NUMBER, Storage.DECIMAL, Storage.TEXT}:
        return text
    return function("person_of_text", dialect, text)


def is_whole(engine_type: str) -> bool:
    """Return whether every value of an engine type is an integer of at most 64 bits."""
    return engine_type.strip().lower() in _BIGINTS


def check_readable(column: Column, engine_type: str, place: str) -> None:
    """Refuse a column that is stored as something which cannot hold what was declared.

    Otherwise every one of its cells would count as missing, and the answers would be paid zeros. What it is
    stored as may follow from rows, so the sentence, which analysts read, says what was declared alone.
    """
    kind = _KINDS.get(type(column.by_day().domain), ColumnKind.TEXT)
    if not can_read(kind, engine_type):
        raise CatalogError(
            f"{place}: column '{column.name}' is stored in a way that cannot be read as {kind.value}.",
            hint="Declare another type, or give the table a source in which it is converted.",
        )


def _steps(domain: NumberDomain, bare: str, engine_type: str, dialect: str) -> str:
    """Return the nearest whole number of steps, ties upwards; NULL outside the declared range."""
    low, high = int(domain.lower / domain.step), int(domain.upper / domain.step)
    stored, row = storage(engine_type), DIALECTS[dialect]
    read = number_cell(bare, engine_type, dialect)
    inverse = 1 / domain.step
    factor = decimal(inverse) if inverse.denominator == 1 else None
    # A step of 5 is written as 5.0: between two integers PostgreSQL would cut off the fraction.
    whole = ".0" if domain.step.denominator == 1 else ""
    scaled = f"{read} * {factor}" if factor else f"{read} / {decimal(domain.step)}{whole}"
    if row.raises_on_tiny and not factor:
        # PostgreSQL raises where a quotient is too small for a double. What is below a quarter of a
        # step is nearest to none at all.
        near = decimal(domain.step / 4)
        scaled = f"CASE WHEN {read} > -{near} AND {read} < {near} THEN 0.0 ELSE {scaled} END"
    if stored is Storage.INTEGER and factor:
        nearest = f"CAST({read} AS BIGINT) * {factor}"
    else:
        nearest = f"{row.try_cast}(FLOOR({scaled} + 0.5) AS BIGINT)"
    inside = f"{read} >= {decimal(domain.lower)} AND {read} <= {decimal(domain.upper)}"
    if row.nan_passes and stored is Storage.NUMBER:
        inside += f" AND NOT isnan({read})"  # the comparisons may let it pass
    if _rounds_inside(domain, engine_type):
        return f"CASE WHEN {inside} THEN {nearest} END"
    # Rounding may pass an end by one step; the declared range holds whatever the machine does.
    # Not GREATEST and LEAST: they skip the NULL of a NaN that DuckDB's comparisons let pass.
    return (
        f"CASE WHEN {inside} THEN CASE WHEN {nearest} > {high} THEN {high} "
        f"WHEN {nearest} < {low} THEN {low} ELSE {nearest} END END"
    )


def number_cell(bare: str, engine_type: str, dialect: str) -> str:
    """Return a column as a number: narrow floats and decimals as the nearest double.

    Their own arithmetic rounds, overflows and fails differently on each engine. By way of its text
    a decimal becomes the nearest double for certain on DuckDB, too.
    """
    stored, row = storage(engine_type), DIALECTS[dialect]
    if stored is Storage.DECIMAL and row.raises_on_tiny:
        # Of any size there, and a cast raises on what no double holds; NaN is above all numbers.
        return (
            f"CAST(CASE WHEN {bare} > -1e-300 AND {bare} < 1e-300 THEN 0 "
            f"WHEN {bare} > -1e300 AND {bare} < 1e300 THEN {bare} END AS {row.double})"
        )
    if stored is Storage.DECIMAL:
        text = f"CAST({bare} AS {row.text})" if row.decimal_texts else bare
        return f"CAST({text} AS {row.double})"
    if stored is Storage.NUMBER and not _is_double(engine_type):
        return f"CAST({bare} AS {row.double})"
    if stored is Storage.NUMBER:
        return bare
    if stored is Storage.INTEGER:
        return within_64_bits(bare, engine_type, dialect)
    return read_as(ColumnKind.NUMBER, bare, engine_type=engine_type, dialect=dialect)


def _is_double(engine_type: str) -> bool:
    return engine_type.strip().lower() in {"double", "double precision", "float8"}


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
    return _is_double(engine_type) and whole and largest < 2**51


def declared_text(read: str, domain: CategoryDomain, dialect: str) -> str:
    """Return a text that is on the declared list, or NULL."""
    if DIALECTS[dialect].enums:
        # The same as the CASE below; but DuckDB looks an ENUM's values up by hash, and walks
        # through the list of an IN inside a CASE: ten times slower for 50 values.
        return f"CAST(TRY_CAST({read} AS {enum_type(domain)}) AS VARCHAR)"
    listed = ", ".join(constant(value, dialect) for value in domain.values)
    return f"CASE WHEN {read} IN ({listed}) THEN {read} END"


def enum_type(domain: CategoryDomain) -> str:
    """Return the type that DuckDB stores a category as."""
    return f"ENUM({', '.join(constant(value, 'duckdb') for value in domain.values)})"
