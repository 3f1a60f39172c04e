"""Cells in the owner's spelling, rewritten as the plain texts that `cells` reads.

One SQL expression for each column, total on every engine: a text in plain spelling, or NULL where
the cell is not written as declared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.core.spelling import (
    MONTHS,
    SPACES,
    TIME_BEHIND,
    date_pattern,
    number_pattern,
    removed_from_numbers,
)
from discreet.engine.dialect.functions import filled, function
from discreet.engine.dialect.names import text_constant
from discreet.engine.dialect.storage import ColumnKind, Storage, storage
from discreet.engine.dialect.types import read_as, short
from discreet.engine.dialects import DIALECTS

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
