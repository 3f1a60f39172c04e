"""What one column holds: its distinct values and how often each occurs. Private; owner only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Integers
from discreet.data.engines.base import Engine, open_exact
from discreet.data.engines.column_types import ColumnKind, read_as
from discreet.data.engines.dialects import DIALECTS, quoted
from discreet.data.engines.functions import filled
from discreet.errors import EngineFailed

MOST_VALUES = 200_000
"""A column with more distinct values is judged by this many of them."""

_FIRST_ROWS = 300_000
_BITS_OF_A_NUMBER = 64
_MOST_BITS = 10**9
"""DuckDB makes no longer string of bits."""
PATIENCE = 600.0
"""Seconds for one look at one column."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Distinct values of a column with their counts, NULL apart. Its repr shows neither.

    Where there are too many values, `complete` is false and `values` holds some of them;
    `extremes` then has the least and the greatest of all, unless the column holds texts.
    """

    name: str
    rows: int
    missing: int
    values: pa.Array = field(repr=False)
    counts: Integers = field(repr=False)
    complete: bool = True
    extremes: tuple[Any, Any] | None = field(default=None, repr=False)

    @property
    def distinct(self) -> int:
        """Return the number of distinct values that were read, NULL not counted."""
        return len(self.values)

    @property
    def present(self) -> int:
        """Return the number of rows that have a value."""
        return int(self.counts.sum())

    def keep(self, mask: Sequence[bool] | Bits) -> Profile:
        """Return the profile of the values under `mask`; the others count as missing."""
        chosen = np.asarray(mask, dtype=bool)
        lost = int(self.counts[~chosen].sum())
        values = self.values.filter(pa.array(chosen))
        return replace(self, missing=self.missing + lost, values=values, counts=self.counts[chosen])


def read_profile(engine: Engine, table: str, column: str) -> Profile | None:
    """Return the profile of one column, or None if its type cannot be grouped or is too odd."""
    cell = quoted(column, engine.capabilities.dialect)
    few = f"(SELECT {cell} FROM {engine.relation(table)} AS w LIMIT {_FIRST_ROWS}) AS f"
    try:
        found = _grouped(engine, few, cell)
        # So many values in the first rows are enough to judge by; all of them would be as many more.
        if found.num_rows <= MOST_VALUES:
            found = _grouped(engine, f"{engine.relation(table)} AS f", cell)
    except EngineFailed:
        return None
    values = found.column("v").combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # what an empty column combines to
        values = pa.array([], type=values.type)
    counts = found.column("n").cast(pa.int64()).to_numpy().astype(np.int64)
    if pa.types.is_floating(values.type):
        values = _nan_as_null(values)
    known = np.asarray(pc.is_valid(values))
    whole = Profile(column, int(counts.sum()), 0, values, counts)
    return whole.keep(known) if len(counts) <= MOST_VALUES else _partial(engine, table, whole)


def _grouped(engine: Engine, rows: str, cell: str) -> pa.Table:
    sql = f"SELECT {cell} AS v, COUNT(*) AS n FROM {rows} GROUP BY {cell} LIMIT {MOST_VALUES + 1}"
    return open_exact(engine.owner_reader().run(sql, seconds=PATIENCE))


def _partial(engine: Engine, table: str, part: Profile) -> Profile:
    """Return the profile with counts and extremes that are true for the whole column."""
    cell = quoted(part.name, engine.capabilities.dialect)
    sql = (
        f"SELECT COUNT(*) AS n, COUNT({cell}) AS k, MIN({cell}) AS low, MAX({cell}) AS high "
        f"FROM {engine.relation(table)} AS f"
    )
    found = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()[0]
    known = part.keep(np.asarray(pc.is_valid(part.values)))
    text = pa.types.is_string(part.values.type)
    return replace(
        known,
        rows=int(found["n"]),
        missing=int(found["n"]) - int(found["k"]),
        complete=False,
        extremes=None if text else (found["low"], found["high"]),
    )


def _nan_as_null(values: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_finite(values), values, pa.scalar(None, values.type))


def columns_that_read(
    engine: Engine, table: str, columns: Sequence[tuple[str, str]], kind: ColumnKind
) -> set[str]:
    """Return the columns in which some cell is filled and each filled one reads as `kind`.

    Like a storage type this is one fact about a whole column; whoever declares types uses it.
    """
    if not columns:
        return set()
    dialect = engine.capabilities.dialect
    tests = []
    for i, (name, engine_type) in enumerate(columns):
        cell = quoted(name, engine.capabilities.dialect)
        read = read_as(kind, cell, engine_type=engine_type, dialect=dialect)
        tests.append(f"COUNT({cell}) AS k{i}, COUNT({read}) AS r{i}")
    sql = f"SELECT {', '.join(tests)} FROM {engine.relation(table)} AS f"
    (found,) = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    return {
        name
        for i, (name, _) in enumerate(columns)
        if found[f"k{i}"] and found[f"k{i}"] == found[f"r{i}"]
    }


def count_distinct(engine: Engine, table: str, profile: Profile) -> int:
    """Return how many different values a column has, of which the profile may hold only some."""
    if profile.complete:
        return profile.distinct
    sql = f"SELECT {_distinct(engine, profile)} AS n FROM {engine.relation(table)} AS f"
    return int(open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).column("n")[0].as_py())


def _distinct(engine: Engine, profile: Profile) -> str:
    """Return the SQL of that number: by a bit for each whole number between the ends, where they are few.

    Setting bits takes a sixth of the time of a hash table, and no more room than the numbers themselves.
    """
    cell = quoted(profile.name, engine.capabilities.dialect)
    whole = pa.types.is_int64(profile.values.type)
    by_bits = DIALECTS[engine.capabilities.dialect].distinct
    if by_bits is not None and whole and profile.extremes is not None:
        low, high = profile.extremes
        if high - low < min(_BITS_OF_A_NUMBER * profile.rows, _MOST_BITS):
            return filled(by_bits, cell, str(low), str(high))
    return f"COUNT(DISTINCT {cell})"


def rows_per_unit(engine: Engine, table: str, unit: str) -> tuple[int, int, float]:
    """Return how many rows cover 95% of the people, the greatest number, and the share of rows kept."""
    cell = quoted(unit, engine.capabilities.dialect)
    sql = (
        f"SELECT n, COUNT(*) AS people FROM (SELECT {cell}, COUNT(*) AS n "
        f"FROM {engine.relation(table)} AS f WHERE {cell} IS NOT NULL "
        f"GROUP BY {cell}) AS t GROUP BY n"
    )
    found = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE))
    rows = found.column("n").cast(pa.int64()).to_numpy()
    people = found.column("people").cast(pa.int64()).to_numpy()
    if not len(rows):
        return 1, 1, 1.0
    order = np.argsort(rows)
    rows, people = rows[order], people[order]
    reached = np.cumsum(people) >= 0.95 * people.sum()
    bound = int(rows[np.argmax(reached)])
    kept = float((np.minimum(rows, bound) * people).sum() / (rows * people).sum())
    return bound, int(rows[-1]), kept


def constant_columns(engine: Engine, table: str, unit: str, columns: Sequence[str]) -> set[str]:
    """Return the columns in which no person of the data has two different values."""
    if not columns:
        return set()
    few = f"SELECT * FROM {engine.relation(table)} AS w LIMIT {_FIRST_ROWS}"
    kinds = dict(engine.columns(table))
    dialect = engine.capabilities.dialect
    cells = {name: _ordered(f"f.{quoted(name, dialect)}", kinds[name]) for name in columns}
    likely = _constant(engine, f"({few}) AS f", unit, cells)
    # What the first rows contradict need not be looked at in all of them.
    return (
        _constant(
            engine,
            f"{engine.relation(table)} AS f",
            unit,
            {name: cells[name] for name in sorted(likely)},
        )
        if likely
        else set()
    )


def _ordered(cell: str, kind: str) -> str:
    # PostgreSQL knows no least truth value.
    return f"CAST({cell} AS INTEGER)" if kind.lower().startswith("bool") else cell


def _constant(engine: Engine, rows: str, unit: str, cells: Mapping[str, str]) -> set[str]:
    ends = ", ".join(f"MIN({c}) AS a{i}, MAX({c}) AS z{i}" for i, c in enumerate(cells.values()))
    differ = ", ".join(
        f"MAX(CASE WHEN t.a{i} <> t.z{i} THEN 1 ELSE 0 END) AS m{i}" for i in range(len(cells))
    )
    person = quoted(unit, engine.capabilities.dialect)
    sql = f"SELECT {differ} FROM (SELECT {ends} FROM {rows} GROUP BY f.{person}) AS t"
    found = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE))
    return {name for i, name in enumerate(cells) if not (found.column(i)[0].as_py() or 0)}
