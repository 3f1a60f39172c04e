"""Files that a user hands to an attack: read as they are, columns found by name; or a pool of people.

The domains of people are read off the file itself. That is not private, and need not be: an attack rehearses on
people whom the user already holds, and publishes nothing of them but how often it was right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.data.catalog.toml_text import WrittenTable
from discreet.errors import InvalidInput
from discreet.lab.attacks.curator import BOOLEAN, categories, whole_numbers
from discreet.work.learn.read_file import rows_as_written

MOST_WORDS = 256
"""A column of more different words is left out: it names people or things."""
_STEPS = 1_000


def read_rows(path: str | Path) -> pa.Table:
    """Return the rows of a Parquet or CSV file; cells of a CSV file stay text, as they are written.

    Text keeps the zeros of "02139": two files are compared by what stands in them.
    """
    place = Path(path)
    if not place.is_file():
        raise InvalidInput(f"There is no file '{place}'.")
    try:
        table = rows_as_written(place)
    except (pa.ArrowException, OSError, UnicodeError):
        # The library's own words may quote a cell.
        raise InvalidInput(
            f"The file '{place}' could not be read as CSV or Parquet.",
            hint="Every line must have as many cells as the first.",
        ) from None
    if not table.num_rows:
        raise InvalidInput(f"The file '{place}' has no rows.")
    return table


def named(table: pa.Table, columns: Sequence[str], *, label: str) -> tuple[str, ...]:
    """Return the columns as the table spells them, without regard to case."""
    known = {name.lower(): name for name in table.column_names}
    for column in columns:
        if column.lower() not in known:
            raise InvalidInput(
                f"{label} has no column '{column}'.",
                hint=f"It has: {', '.join(table.column_names)}.",
            )
    return tuple(known[column.lower()] for column in columns)


def as_texts(tables: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    """Return these columns of several files one below the other, as texts."""
    return pa.concat_tables(
        table.select(named(table, columns, label="The file"))
        .rename_columns(list(columns))
        .cast(pa.schema([(name, pa.string()) for name in columns]))
        for table in tables
    )


def common(first: pa.Table, second: pa.Table) -> tuple[str, ...]:
    """Return the columns that both tables have, as the first spells them."""
    theirs = {name.lower() for name in second.column_names}
    shared = tuple(name for name in first.column_names if name.lower() in theirs)
    if not shared:
        raise InvalidInput(
            "The two files have no column in common, so nothing can be linked.",
            hint="Rename the columns that mean the same, or name others with columns.",
        )
    return shared


@dataclass(frozen=True, slots=True, eq=False)
class OwnPeople:
    """Rows, and for each column that can be used what values it may take."""

    rows: pa.Table
    domains: Mapping[str, FiniteDomain]

    def declared(self) -> dict[str, WrittenTable]:
        """Return the columns as discreet.toml declares them."""
        return {name: declaration(domain) for name, domain in self.domains.items()}


def people_of(table: pa.Table, columns: Sequence[str] = ()) -> OwnPeople:
    """Return the people of a table; numbers that a CSV spells as text become numbers."""
    wanted = named(table, columns, label="Your file") if columns else tuple(table.column_names)
    rows, domains = {}, {}
    for name in wanted:
        values = _typed(table[name])
        domain = _domain(values)
        if domain is None and columns:
            raise InvalidInput(
                f"The column '{name}' has one value only, or more than {MOST_WORDS} different words."
            )
        if domain is not None:
            rows[name], domains[name] = values, domain
    if not rows:
        raise InvalidInput("No column of your file has between 2 and 256 different values.")
    return OwnPeople(pa.table(rows), domains)


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type) or _is_number(column.type):
        return column
    words = column.cast(pa.string())
    for kind in (pa.int64(), pa.float64()):
        try:
            return words.cast(kind)
        except pa.ArrowInvalid:
            continue
    return words


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _domain(column: pa.ChunkedArray) -> FiniteDomain | None:
    if pa.types.is_boolean(column.type):
        return BooleanDomain()
    if not _is_number(column.type):
        words = sorted(word for word in pc.unique(column).to_pylist() if word is not None)
        return CategoryDomain(tuple(words)) if 2 <= len(words) <= MOST_WORDS else None
    ends = pc.min_max(column).as_py()
    low, high = ends["min"], ends["max"]
    if low is None or not (math.isfinite(low) and math.isfinite(high)) or low >= high:
        return None
    if pa.types.is_integer(column.type):
        return IntegerDomain(int(low), int(high))
    step = Fraction(10) ** math.floor(math.log10((high - low) / _STEPS))
    first = math.floor(Fraction(low) / step) * step
    return NumberDomain(first, math.ceil(Fraction(high) / step) * step, step)


def declaration(domain: FiniteDomain) -> WrittenTable:
    """Return a column's settings in discreet.toml; gaps may occur."""
    found: WrittenTable
    match domain:
        case BooleanDomain():
            found = BOOLEAN
        case IntegerDomain(lower=lower, upper=upper):
            found = whole_numbers(lower, upper)
        case NumberDomain(lower=low, upper=high, step=step):
            found = {"type": "number", "lower": low, "upper": high, "step": step}
        case CategoryDomain(values=values):
            found = categories(values)
        case _:
            raise InvalidInput("A column of days cannot be declared here.")
    return {**found, "missing": True}
