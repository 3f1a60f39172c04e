"""Cells of a source in SQL: the canonical value of each, or NULL for whatever is not declared.

Numbers become whole numbers of steps, so that everything above computes with integers. Categories
stay text, dates stay dates, a moment is its day and, in a column of its own, the second of it.

A cell in the owner's spelling is first rewritten as a plain text: one SQL expression for each column, total on every
engine, or NULL where the cell is not written as declared. Constants are quoted for each dialect.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.base.spelling import (
    MONTHS,
    SPACES,
    TIME_BEHIND,
    date_pattern,
    number_pattern,
    removed_from_numbers,
)
from discreet.data.engines.column_types import (
    ColumnKind,
    Storage,
    can_read,
    read_as,
    second_of_day,
    short,
    storage,
    within_64_bits,
)
from discreet.data.engines.dialects import DIALECTS, text_constant
from discreet.data.engines.functions import filled, function
from discreet.errors import CatalogError


def constant(value: Any, dialect: str) -> str:
    """Return a constant that is not a number in steps: text, truth value, date or NULL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return text_constant(value, dialect)
        case dt.datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return str(int(value))


def decimal(value: Fraction) -> str:
    """Return a decimal constant: exact where the fraction has a finite decimal."""
    if value.denominator == 1:
        return str(value.numerator)
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


_POINT_ZERO = re.compile(r"(?<=\d)\.0+\Z")
_SPELT = frozenset({Storage.TEXT, Storage.INTEGER, Storage.BOOLEAN})
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def plain_cell(column: Column, bare: str, engine_type: str, dialect: str) -> tuple[str, str]:
    """Return SQL for a cell in plain spelling, and the engine type that it then has.

    Guarantee: total, and a function of the cell, of what is declared and of the engine type alone.
        Integers and truth values have one text each, so they are read by it, whatever else the
        column might have held; truth values also where they are stored as 1.0. Other numbers, and
        dates, have no spelling: only what the owner called empty is left out of them.
    """
    spelling = column.spelling
    if spelling.plain:
        return bare, engine_type
    read = _text(column, bare, engine_type, dialect)
    if _spelt(column, engine_type):
        plain = _plain_text(column, _present(column, read, dialect), dialect)
        return plain, DIALECTS[dialect].text
    if not spelling.empty:
        return bare, engine_type
    nothing = _one_of(_number_text(read, dialect), _number_texts(spelling.empty), dialect)
    return f"CASE WHEN {nothing} THEN NULL ELSE {bare} END", engine_type


def present_cell(column: Column, bare: str, engine_type: str, dialect: str) -> str:
    """Return SQL that is NULL where a cell holds nothing, or what the owner called empty."""
    if column.spelling.plain:
        return bare
    read = _text(column, bare, engine_type, dialect)
    if not _spelt(column, engine_type):
        spelling = replace(column.spelling, empty=tuple(_number_texts(column.spelling.empty)))
        return _present(replace(column, spelling=spelling), _number_text(read, dialect), dialect)
    return _present(column, read, dialect)


def _spelt(column: Column, engine_type: str) -> bool:
    """Return whether a cell has one text: numbers with a point, and moments, have several."""
    named = _is_true_as_number(column, engine_type) or isinstance(column.domain, CategoryDomain)
    return named or storage(engine_type) in _SPELT


def _is_true_as_number(column: Column, engine_type: str) -> bool:
    """Return whether truth values are stored as numbers with a point: 1.0 says what 1 does."""
    pointed = storage(engine_type) in {Storage.DECIMAL, Storage.NUMBER}
    return pointed and isinstance(column.domain, BooleanDomain)


def _text(column: Column, bare: str, engine_type: str, dialect: str) -> str:
    read = read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
    return _number_text(read, dialect) if _is_true_as_number(column, engine_type) else read


def _number_text(read: str, dialect: str) -> str:
    """Return -99 for -99.0: what is called empty is so however a number is stored."""
    return function("person_of_text", dialect, read)


def _number_texts(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(_POINT_ZERO.sub("", text) for text in texts))


def _present(column: Column, read: str, dialect: str) -> str:
    spelling = column.spelling
    shown = _trimmed(read, dialect) if spelling.trim else read
    nothing = [*spelling.empty, *([""] if spelling.trim else [])]
    if not nothing:
        return shown
    said = _folded(shown) if spelling.any_case else shown
    listed = [_lower(text) for text in nothing] if spelling.any_case else nothing
    return f"CASE WHEN {_one_of(said, listed, dialect)} THEN NULL ELSE {shown} END"


def _plain_text(column: Column, read: str, dialect: str) -> str:
    domain, spelling = column.domain, column.spelling
    if isinstance(domain, IntegerDomain | NumberDomain) and spelling.numeral:
        return _number(column, read, dialect)
    if isinstance(domain, DateDomain | TimestampDomain) and spelling.dates:
        timed = isinstance(domain, TimestampDomain)
        found = [_date(spelled, read, dialect, timed=timed) for spelled in spelling.dates]
        return f"COALESCE({', '.join(found)})" if len(found) > 1 else found[0]
    if isinstance(domain, CategoryDomain):
        return _merged(column, domain.values, read, dialect)
    if isinstance(domain, BooleanDomain):
        return _merged(column, ("true", "false"), read, dialect)
    return read


def _number(column: Column, read: str, dialect: str) -> str:
    spelling = column.spelling
    bare = read
    for part in removed_from_numbers(spelling):
        bare = f"replace({bare}, {text_constant(part, dialect)}, '')"
    if spelling.decimal != ".":
        bare = f"replace({bare}, {text_constant(spelling.decimal, dialect)}, '.')"
    return f"CASE WHEN {_fits(read, number_pattern(spelling), dialect)} THEN {bare} END"


def _date(spelled: str, read: str, dialect: str, *, timed: bool) -> str:
    """Return a date in this spelling as YYYY-MM-DD; NULL where the text is not one.

    `timed`: what stands behind the day stays there, for the time of day to be read from it.
    """
    pattern, codes = date_pattern(spelled)
    if timed:
        pattern = pattern.removesuffix(TIME_BEHIND) + TIME_BEHIND.replace("(?:", "(", 1)
    parts = {code: _group(read, pattern, i, dialect) for i, code in enumerate(codes, start=1)}
    year = parts.get("%Y") or _century(parts["%y"])
    month = f"lpad({parts['%m']}, 2, '0')" if "%m" in parts else _month(parts["%b"])
    whole = f"{year} || '-' || {month} || '-' || lpad({parts['%d']}, 2, '0')"
    if timed:
        whole += f" || COALESCE({_group(read, pattern, len(codes) + 1, dialect)}, '')"
    return f"CASE WHEN {_fits(read, pattern, dialect)} THEN {whole} END"


def _century(year: str) -> str:
    # As strptime has it: 69 to 99 are of the last century.
    return f"CASE WHEN {year} >= '69' THEN '19' ELSE '20' END || {year}"


def _month(name: str) -> str:
    found = _folded(name)
    cases = " ".join(f"WHEN {found} = '{word}' THEN '{i:02}'" for i, word in enumerate(MONTHS, 1))
    return f"CASE {cases} END"


def _merged(column: Column, values: Sequence[str], read: str, dialect: str) -> str:
    """Return the declared value of every spelling that the owner listed for it."""
    spelling = column.spelling
    fold = _lower if spelling.any_case else str
    said = _folded(read) if spelling.any_case else read
    others = dict(spelling.same)
    cases = []
    for value in values:
        forms = {fold(form): None for form in (value, *others.get(value, ()))}
        if value in others or spelling.any_case:
            cases.append(
                f"WHEN {_one_of(said, list(forms), dialect)} THEN {text_constant(value, dialect)}"
            )
    return f"CASE {' '.join(cases)} ELSE {read} END" if cases else read


def _one_of(read: str, texts: Sequence[str], dialect: str) -> str:
    return f"{read} IN ({', '.join(text_constant(text, dialect) for text in texts)})"


def _trimmed(read: str, dialect: str) -> str:
    return f"{DIALECTS[dialect].trim}({read}, {text_constant(SPACES, dialect)})"


def _folded(read: str) -> str:
    # Not lower(): engines disagree about the case of letters beyond these.
    return f"translate({read}, '{_UPPER}', '{_LOWER}')"


def _lower(text: str) -> str:
    return text.translate(str.maketrans(_UPPER, _LOWER))


def _fits(read: str, pattern: str, dialect: str) -> str:
    """Return the test that the whole of a text fits `pattern`."""
    bare, whole = (text_constant(each, dialect) for each in (pattern, f"^(?:{pattern})$"))
    found = filled(DIALECTS[dialect].fits, short(read, dialect), bare, whole)
    return found if DIALECTS[dialect].tells_empty else f"{read} <> '' AND {found}"


def _group(read: str, pattern: str, number: int, dialect: str) -> str:
    """Return one group of a text that fits `pattern`."""
    whole = text_constant(f"^{pattern}$", dialect)
    return filled(DIALECTS[dialect].group, short(read, dialect), whole, str(number))


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

    The cell is in plain spelling already (see `plain_cell`).

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
