"""What declarations would leave out of a source: cells, rows and examples. For the owner's eyes only.

Outside the promise, like the owner's own look at the data: nothing here goes to anybody who asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.base.schema import CategoryDomain, Column, IdentifierDomain, Table, TextDomain
from discreet.data.engines.base import Engine, open_exact
from discreet.data.engines.column_types import ColumnKind, read_as
from discreet.data.engines.dialects import quoted
from discreet.privacy.kernel.cells import plain_cell, present_cell, source_cell
from discreet.privacy.kernel.odd_values import ends_of, ends_sql, has_ends, odd_values
from discreet.privacy.kernel.sources import PlainSource

EXAMPLES = 5
FEW = 5
"""A value of fewer people than this says something about them if it is listed."""
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """How many filled cells a declaration reads as missing, and the most frequent of them.

    `examples` are (text, how often). `rare`: so many values of a category are those of fewer than
    FEW rows or people. `odd` are sentences about values at its ends (`odd_values`). The repr shows none of this.
    """

    column: str
    filled: int
    lost: int
    examples: tuple[tuple[str, int], ...] = ()
    rare: int = 0
    odd: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ColumnLoss({self.column!r})"

    def words(self) -> str:
        """Return how many filled cells are lost, with examples: for the owner."""
        shown = ", ".join(f"{text!r} ({count:,})" for text, count in self.examples)
        return f"{self.lost:,} of {self.filled:,} filled cells would count as missing: {shown}"


@dataclass(frozen=True, slots=True)
class TableLosses:
    """All losses of one table, and of its rows those that are nobody's.

    `repeats` are columns that name persons or things and say the same in several rows, with how many
    different values they have; only where every row counts as another person. `people` are pairs:
    a number of rows, and how many people have so many; only where rows belong to people.
    """

    rows: int
    without_unit: int
    columns: tuple[ColumnLoss, ...]
    repeats: tuple[tuple[str, int], ...] = ()
    people: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        return "TableLosses(hidden)"

    def kept(self, max_rows: int) -> float:
        """Return the share of people's rows that count if so many of each do."""
        rows = sum(n * people for n, people in self.people)
        counted = sum(min(n, max_rows) * people for n, people in self.people)
        return counted / rows if rows else 1.0


def table_losses(engine: Engine, name: str, table: Table, *, rare: bool = True) -> TableLosses:
    """Return what the declarations of `table` leave out of the engine's table `name`.

    `rare` also counts values of few people, and identifiers that repeat.

    Columns that wait for review count too: that is when the owner wants to know. Hidden ones do not.
    """
    types = {column.lower(): kind for column, kind in engine.columns(name)}
    columns = {i: c for i, c in enumerate(table.columns) if _counts(c) and c.name.lower() in types}
    dialect = engine.capabilities.dialect
    source = PlainSource(table, columns, types, dialect, engine.relation(name), counted=True)
    unit = source.unit(whole=False)
    cells = [
        f"COUNT({source.present(i)}) AS h{i}, COUNT({source.cell(i)}) AS k{i}" for i in columns
    ]
    missing = f"COUNT(*) - COUNT({unit or 1}) AS without_unit"
    sql = f"SELECT {', '.join(['COUNT(*) AS n', missing, *cells])} FROM {source.rows}"
    (found,) = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    losses = []
    for i, column in columns.items():
        filled, kept = int(found[f"h{i}"]), int(found[f"k{i}"])
        examples = _examples(engine, name, column, types) if filled > kept else ()
        listed = rare and isinstance(column.domain, CategoryDomain)
        few = _rare(engine, source, i, unit) if listed else 0
        rows = int(found["n"])
        odd = _odd(engine, source, i, column, rows) if kept and has_ends(column) else ()
        losses.append(ColumnLoss(column.name, filled, filled - kept, examples, few, odd))
    repeats = _repeats(engine, name, table, types) if rare and unit is None else ()
    people = _people(engine, source, unit) if rare and unit is not None else ()
    outside = int(found["without_unit"])
    return TableLosses(int(found["n"]), outside, tuple(losses), repeats, people)


def _counts(column: Column) -> bool:
    return not column.hidden and not isinstance(column.domain, IdentifierDomain | TextDomain)


def _rare(engine: Engine, source: PlainSource, place: int, unit: str | None) -> int:
    """Return how many values of a category occur, but only with a few people (rows if unit is None)."""
    whose = "*" if unit is None else f"DISTINCT {unit}"
    cell = source.cell(place)
    groups = (
        f"SELECT {cell} AS v, COUNT({whose}) AS n FROM {source.rows} "
        f"WHERE {cell} IS NOT NULL GROUP BY {cell}"
    )
    sql = f"SELECT COUNT(*) AS n FROM ({groups}) AS g WHERE g.n < {FEW}"
    return int(open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()[0]["n"])


def _odd(
    engine: Engine, source: PlainSource, place: int, column: Column, of: int
) -> tuple[str, ...]:
    sql = ends_sql(source.cell(place), source.rows)
    rows = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    ends = ends_of(column, rows)
    return () if ends is None else odd_values(ends, rows=of)


def _people(engine: Engine, source: PlainSource, unit: str) -> tuple[tuple[int, int], ...]:
    """Return how many people have one row, two rows and so on."""
    each = f"SELECT COUNT(*) AS n FROM {source.rows} WHERE {unit} IS NOT NULL GROUP BY {unit}"
    sql = f"SELECT g.n AS n, COUNT(*) AS people FROM ({each}) AS g GROUP BY g.n"
    rows = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    return tuple(sorted((int(row["n"]), int(row["people"])) for row in rows))


def _repeats(
    engine: Engine, name: str, table: Table, types: Mapping[str, str]
) -> tuple[tuple[str, int], ...]:
    dialect = engine.capabilities.dialect
    names = [
        c.name
        for c in table.columns
        if isinstance(c.domain, IdentifierDomain) and not c.hidden and c.name.lower() in types
    ]
    if not names:
        return ()
    cells = [f"w.{quoted(each, dialect)}" for each in names]
    counts = [
        f"COUNT({cell}) AS n{i}, COUNT(DISTINCT {cell}) AS d{i}" for i, cell in enumerate(cells)
    ]
    sql = f"SELECT {', '.join(counts)} FROM {engine.relation(name)} AS w"
    (found,) = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    pairs = [(each, int(found[f"d{i}"]), int(found[f"n{i}"])) for i, each in enumerate(names)]
    return tuple((each, distinct) for each, distinct, filled in pairs if 1 < distinct < filled)


def _examples(
    engine: Engine, name: str, column: Column, types: Mapping[str, str]
) -> tuple[tuple[str, int], ...]:
    """Return the most frequent texts that a declaration reads as missing, as the source has them."""
    dialect, stored = engine.capabilities.dialect, types[column.name.lower()]
    bare = f"w.{quoted(column.name, dialect)}"
    plain, kind = plain_cell(column, bare, stored, dialect)
    shown = read_as(ColumnKind.TEXT, bare, engine_type=stored, dialect=dialect)
    cells = f"{shown} AS v, {plain} AS p, {present_cell(column, bare, stored, dialect)} AS h"
    sql = (
        f"SELECT s.v AS v, COUNT(*) AS n FROM (SELECT {cells} FROM {engine.relation(name)} AS w) "
        f"AS s WHERE s.h IS NOT NULL AND {source_cell(column, 's.p', kind, dialect)} IS NULL "
        f"GROUP BY s.v ORDER BY COUNT(*) DESC, s.v LIMIT {EXAMPLES}"
    )
    rows = open_exact(engine.owner_reader().run(sql, seconds=PATIENCE)).to_pylist()
    return tuple((str(row["v"]), int(row["n"])) for row in rows)
