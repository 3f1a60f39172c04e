"""Domains of columns: settings to declared domains and spellings, each mistake with one sentence that says what to edit.

The spelling that the owner declared for a column is checked against its type and its values.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.files import read_bytes
from discreet.base.numbers import to_fraction
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.base.spelling import MOST_SPELLINGS, Spelling
from discreet.data.catalog.file_shape import ColumnShape
from discreet.errors import CatalogError, InvalidInput

_NUMBERS = (IntegerDomain, NumberDomain)
_DATES = (DateDomain, TimestampDomain)
_MERGED = (CategoryDomain, BooleanDomain)
_FOR: Mapping[str, tuple[type, ...]] = {
    "thousands": _NUMBERS,
    "decimal": _NUMBERS,
    "signs": _NUMBERS,
    "format": _DATES,
    "same": _MERGED,
    "any_case": _MERGED,
    "trim": (*_NUMBERS, *_DATES, *_MERGED, IdentifierDomain),
    "empty": (*_NUMBERS, *_DATES, *_MERGED, IdentifierDomain),
}
"""Which kinds of columns each setting is for."""


def spelling_of(shape: ColumnShape, domain: Domain) -> Spelling:
    """Return how the texts of a column are read, or refuse what its type has no use for."""
    for key, kinds in _FOR.items():
        if getattr(shape, key) and not isinstance(domain, kinds):
            if isinstance(domain, TextDomain):  # nobody reads it, so nothing is spelled
                continue
            raise no_such_setting(shape, key)
    if isinstance(domain, TextDomain):
        return Spelling()
    written = () if shape.format is None else shape.format
    found = Spelling(
        trim=shape.trim,
        any_case=shape.any_case,
        empty=tuple(str(text) for text in shape.empty),
        same=tuple((value, tuple(map(str, forms))) for value, forms in shape.same.items()),
        thousands=shape.thousands or "",
        decimal="." if shape.decimal is None else shape.decimal,
        signs=shape.signs,
        dates=(written,) if isinstance(written, str) else written,
    )
    _check_forms(found, domain)
    return found


def no_such_setting(shape: ColumnShape, key: str) -> CatalogError:
    """Return the refusal of a setting that columns of this type do not have."""
    article = "an" if shape.type[0] in "aeiou" else "a"
    return CatalogError(f"{article} {shape.type} has no '{key}'; remove it.")


def _check_forms(spelling: Spelling, domain: Domain) -> None:
    """Refuse a spelling that would stand for two values, or for one that is not declared."""
    if not (spelling.same or spelling.any_case):
        return
    values = domain.values if isinstance(domain, CategoryDomain) else ("true", "false")
    others = dict(spelling.same)
    for value in others:
        if value not in values:
            raise CatalogError(f"same: '{value}' is not among the values.")
    owners: dict[str, str] = {}
    for value in values:
        for form in (value, *others.get(value, ())):
            said = form.lower() if spelling.any_case else form
            if owners.setdefault(said, value) != value:
                raise CatalogError(f"'{form}' is a spelling of two values; keep one of them.")
    if len(owners) > MOST_SPELLINGS:
        raise CatalogError(
            f"same and any_case are for at most {MOST_SPELLINGS:,} spellings; "
            "convert the column in its source."
        )


LARGEST = 10**18 - 1
"""Bounds, counted in steps, stay below this, so that 64-bit integers hold every lattice point."""

FINENESS = 1_000_000
"""Without a declared step, a number's range is divided into at least this many steps."""


def column_of(name: str, shape: ColumnShape, *, base: Path) -> Column:
    """Return the column as declared, or refuse it with a sentence about `name`."""
    build = _BUILDERS.get(shape.type)
    if build is None:
        known = ", ".join(_BUILDERS)
        raise CatalogError(
            f"column '{name}': there is no type '{shape.type}'; write one of: {known}."
        )
    try:
        domain = build(_with_listed_values(name, shape, base))
        spelling = spelling_of(shape, domain)
    except (CatalogError, InvalidInput) as error:
        raise CatalogError(f"column '{name}': {error}") from None
    if shape.complete and (shape.missing or isinstance(domain, IdentifierDomain | TextDomain)):
        raise CatalogError(
            f"column '{name}': complete is for a column with a declared list or range of values "
            "that is not declared missing."
        )
    return Column(
        name=name,
        domain=domain,
        hidden=shape.hidden,
        constant=shape.constant,
        immutable=shape.immutable,
        missing=shape.missing,
        complete=shape.complete,
        reviewed=not shape.review,
        spelling=spelling,
    )


def _with_listed_values(name: str, shape: ColumnShape, base: Path) -> ColumnShape:
    if shape.type != "category" or shape.values_from is None:
        return shape
    if shape.values is not None:
        raise CatalogError("a category has either values or values_from, not both.")
    listed = read_values(base / shape.values_from, name)
    return shape.model_copy(update={"values": listed, "values_from": None})


def read_values(path: Path, column: str = "") -> tuple[str, ...]:
    """Return one value for each line: the first cell of a .csv or .tsv, the whole line of others.

    A first line that is the column's own name is a heading. Blank lines are skipped.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError:
        raise CatalogError(f"the file '{path.name}' of values_from cannot be read.") from None
    except UnicodeDecodeError:
        raise CatalogError(f"the file '{path.name}' of values_from is not UTF-8 text.") from None
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter is None:
        found = text.splitlines()
    else:
        found = [row[0] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    values = [value for value in found if value.strip()]
    if values and column and values[0].strip().lower() == column.lower():
        values = values[1:]
    return tuple(values)


def _integer(shape: ColumnShape) -> Domain:
    _only(shape, "lower", "upper")
    lower, upper = _both(shape)
    for bound in (lower, upper):
        if not isinstance(bound, int):
            raise CatalogError(f"the bounds of an integer are whole numbers, not {bound}.")
        _fits(abs(bound))
    return IntegerDomain(lower, upper)


def _number(shape: ColumnShape) -> Domain:
    _only(shape, "lower", "upper", "step")
    bounds = _both(shape)
    if not all(isinstance(bound, int | Decimal) for bound in bounds):
        raise CatalogError("lower and upper must be numbers without quotes.")
    lower, upper = (to_fraction(bound, name="a bound") for bound in bounds)
    written = shape.step
    step = _default_step(lower, upper) if written is None else to_fraction(written, name="step")
    if step <= 0:
        raise CatalogError("step must be greater than 0.")
    for name, bound in (("lower", lower), ("upper", upper)):
        if (bound / step).denominator != 1:
            raise CatalogError(f"{name} must be a multiple of step: change {name} or step.")
    _fits(max(abs(lower), abs(upper)) / step)
    return NumberDomain(lower, upper, step)


def _default_step(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the power of ten that gives at least a million steps and divides both bounds."""
    step = Fraction(1)
    span = upper - lower if upper > lower else Fraction(1)
    while step * FINENESS > span or (lower / step).denominator * (upper / step).denominator != 1:
        step /= 10
    while step * 10 * FINENESS <= span:
        if (lower / (step * 10)).denominator * (upper / (step * 10)).denominator != 1:
            break
        step *= 10
    return step


def _category(shape: ColumnShape) -> Domain:
    _only(shape, "values")
    if shape.values is None:
        raise CatalogError(
            "a category needs its values: write values = [...], or values_from = a file."
        )
    values = tuple(str(value) for value in shape.values)
    if not values:
        raise CatalogError("a category needs at least one value.")
    seen: set[str] = set()
    for value in values:
        if "\0" in value:
            raise CatalogError("a value holds a NUL character, which no text can have.")
        if value in seen:
            raise CatalogError(f"the value '{value}' is listed twice; remove one.")
        seen.add(value)
    return CategoryDomain(values)


def _date(shape: ColumnShape) -> Domain:
    _only(shape, "lower", "upper")
    lower, upper = (_day(bound) for bound in _both(shape))
    return DateDomain(lower, upper)


def _timestamp(shape: ColumnShape) -> Domain:
    _only(shape, "lower", "upper")
    lower, upper = (_second(bound) for bound in _both(shape))
    return TimestampDomain(lower, upper)


def _bare(domain: Domain) -> Callable[[ColumnShape], Domain]:
    def build(shape: ColumnShape) -> Domain:
        _only(shape)
        return domain

    return build


_BUILDERS: dict[str, Callable[[ColumnShape], Domain]] = {
    "integer": _integer,
    "number": _number,
    "category": _category,
    "boolean": _bare(BooleanDomain()),
    "date": _date,
    "timestamp": _timestamp,
    "identifier": _bare(IdentifierDomain()),
    "text": _bare(TextDomain()),
}

_OF_A_DOMAIN = ("lower", "upper", "step", "values", "values_from")


def _only(shape: ColumnShape, *allowed: str) -> None:
    for key in _OF_A_DOMAIN:
        if key not in allowed and getattr(shape, key) is not None:
            raise no_such_setting(shape, key)


def _both(shape: ColumnShape) -> tuple[Any, Any]:
    missing = [key for key in ("lower", "upper") if getattr(shape, key) is None]
    if missing:
        raise CatalogError(
            f"a column of type {shape.type} needs {' and '.join(missing)}: bounds that are "
            "public knowledge, never read from the data."
        )
    return shape.lower, shape.upper


def _fits(steps: int | Fraction) -> None:
    if steps > LARGEST:
        raise CatalogError("the bounds are too large to count exactly; use a larger step.")


def _day(written: object) -> dt.date:
    if isinstance(written, dt.date) and not isinstance(written, dt.datetime):
        return written
    try:
        return dt.date.fromisoformat(str(written))
    except ValueError:
        raise CatalogError("a date is written as 2024-12-31.") from None


def _second(written: object) -> dt.datetime:
    try:
        found = dt.datetime.fromisoformat(str(written))
    except ValueError:
        raise CatalogError("a timestamp is written as 2024-12-31T23:59:59.") from None
    if found.tzinfo is not None:
        found = found.astimezone(dt.UTC).replace(tzinfo=None)
    return found
