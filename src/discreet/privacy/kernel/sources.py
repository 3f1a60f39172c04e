"""Sources: every cell in plain spelling, under a name of the kernel's own; several files; paths to people.

The columns of a source of several files are read by their declarations and nothing else.

The tables of a dataset reach people over each other, by the SQL of every cell that is compared. A person has one
reading in a dataset. The table that names people says how, and a table that reaches them over a path gets them as
that table reads them; a key on the way is read as its own table reads it, on both sides. What a column is stored as
is known to whoever opens the files, so a cell comes as one text for each storage, and the engine picks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat

from discreet.base.schema import (
    BooleanDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.base.unit import FollowedPath, FollowedStep, PathCell
from discreet.data.engines.column_types import ColumnKind, Storage, read_as, readable, type_name
from discreet.data.engines.connect import kind_of
from discreet.data.engines.declared import HERE, DeclaredCell, Texts, filled_name
from discreet.data.engines.dialects import DIALECTS, quoted
from discreet.privacy.kernel.cells import (
    number_cell,
    person_text,
    plain_cell,
    present_cell,
    source_cell,
    unit_cell,
)


def unit_column(table: Table) -> Column | None:
    """Return the column that says whose row it is, None for rows that are nobody's or their own."""
    if table.unit is None or table.unit.column is None:
        return None
    return table.column(table.unit.column)


class PlainSource:
    """The rows of a source as `s`, and SQL for their canonical cells.

    Where the owner declared a spelling, an inner SELECT rewrites those cells once; otherwise the
    source itself is read. `counted` also carries whether each cell held anything.
    """

    def __init__(
        self,
        table: Table,
        columns: Mapping[int, Column],
        types: Mapping[str, str],
        dialect: str,
        relation: str,
        *,
        counted: bool = False,
    ) -> None:
        self._columns = dict(columns)
        self._unit = unit_column(table)
        self._dialect = dialect
        self._types = types
        listed = {f"n{i}": column for i, column in columns.items()}
        if self._unit is not None:
            listed["nu"] = self._unit
        self._spelled = any(not column.spelling.plain for column in listed.values())
        self.rows = f"{relation} AS s"
        if self._spelled:
            cells = [f"{self._plain(c, 'w')[0]} AS {key}" for key, c in listed.items()]
            if counted:
                cells += [f"{self._present(c)} AS h{i}" for i, c in columns.items()]
            self.rows = f"(SELECT {', '.join(cells)} FROM {relation} AS w) AS s"

    def cell(self, place: int) -> str:
        """Return SQL for the canonical value of the column at this place of the table."""
        column = self._columns[place]
        plain, kind = self._plain(column, "s")
        return source_cell(column, f"s.n{place}" if self._spelled else plain, kind, self._dialect)

    def present(self, place: int) -> str:
        """Return SQL that is NULL where the cell held nothing, or what the owner called empty."""
        if self._spelled:
            return f"s.h{place}"
        filled = filled_name(self._columns[place].name)
        if (
            filled in self._types
        ):  # read as declared already: the cell itself would hide what was lost
            return f"s.{quoted(filled, self._dialect)}"
        return f"s.{quoted(self._columns[place].name, self._dialect)}"

    def unit(self, *, whole: bool) -> str | None:
        """Return SQL for whose row it is, None where that is nobody or the row itself."""
        if self._unit is None:
            return None
        plain, kind = self._plain(self._unit, "s")
        bare = "s.nu" if self._spelled else plain
        return unit_cell(self._unit, bare, kind, self._dialect, whole=whole)

    def _plain(self, column: Column, alias: str) -> tuple[str, str]:
        bare = f"{alias}.{quoted(column.name, self._dialect)}"
        if column.moment is not None:
            # Its second is read from the same plain text as its day.
            column = replace(column, domain=column.moment, moment=None)
        return plain_cell(column, bare, self._types.get(column.name.lower(), ""), self._dialect)

    def _present(self, column: Column) -> str:
        filled = filled_name(column.name)
        if filled in self._types:
            return f"w.{quoted(filled, self._dialect)}"
        bare = f"w.{quoted(column.name, self._dialect)}"
        return present_cell(column, bare, self._types.get(column.name.lower(), ""), self._dialect)


_KINDS = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
}
"""Everything else stays the text that it is: also a moment, which has a day and a second."""
STORED = {
    Storage.INTEGER: "hugeint",
    Storage.DECIMAL: "decimal(38,0)",
    Storage.NUMBER: "float",
    Storage.BOOLEAN: "boolean",
    Storage.DATE: "date",
    Storage.TIMESTAMP: "timestamp",
    Storage.TEXT: "varchar",
    Storage.OTHER: "blob",
}
"""One type for each storage: how a cell is read depends on nothing else (data/engines/column_types.py)."""


def declared_cells(
    datasets: Iterable[Dataset], engine_url: str
) -> dict[str, tuple[DeclaredCell, ...]]:
    """Return by the engine's name how the columns of every table are read where it is many files.

    Guarantee: each text is total, and a function of the cell, of its storage and of what is declared.
    """
    kind = kind_of(engine_url)
    if not kind.files:
        return {}
    dialect = kind.dialect.name
    found = {}
    for dataset in datasets:
        ways = _way_columns(dataset)
        for table in dataset.tables:
            keys = {name.lower(): name for name in ways.get(table.name.lower(), ())}
            unit = unit_column(table)
            if unit is not None and table.path is None:
                keys[unit.name.lower()] = unit.name
            found[f"{dataset.name}.{table.name}"] = tuple(
                _cell(column, dialect, key=column.name.lower() in keys)
                for column in _columns(table, keys.values())
            )
    return found


def _way_columns(dataset: Dataset) -> dict[str, list[str]]:
    """Return the columns by which paths lead from table to table, by table in small letters."""
    found: dict[str, list[str]] = {}
    for table in dataset.tables:
        if table.path is None:
            continue
        at = table.name.lower()
        for step in table.path.steps:
            found.setdefault(at, []).append(step.column)
            at = step.table.lower()
            found.setdefault(at, []).append(step.key)
        found.setdefault(at, []).append(table.path.column)
    return found


def _columns(table: Table, others: Iterable[str]) -> list[Column]:
    """Return the columns that somebody may read, each once; what is hidden is read by nobody."""
    reached = "" if table.path is None else table.path.column.lower()
    found = {
        column.name.lower(): column
        for column in table.columns
        if not column.hidden and column.name.lower() != reached
    }
    for name in others:
        declared = next((c for c in table.columns if c.name.lower() == name.lower()), None)
        found.setdefault(name.lower(), declared or Column(name, IdentifierDomain()))
    return list(found.values())


def _cell(column: Column, dialect: str, *, key: bool) -> DeclaredCell:
    """Return how a column is read; a `key` names people or leads to them, and goes by its text.

    It is the text of its own canonical rows (`person_text`), in one file of several as in one alone.
    """
    bare = f"{HERE}.{quoted(column.name, dialect)}"
    kind = _KINDS.get(type(column.domain), ColumnKind.TEXT)
    if key and kind is not ColumnKind.INTEGER:
        kind = ColumnKind.TEXT
    return DeclaredCell(
        column.name,
        type_name(kind, dialect),
        _texts(lambda stored: _read(column, kind, bare, stored, dialect, key=key)),
        _texts(lambda stored: present_cell(column, bare, stored, dialect)),
    )


def _texts(text: Callable[[str], str]) -> Texts:
    return tuple((way.value, text(stored)) for way, stored in STORED.items())


def _read(
    column: Column, kind: ColumnKind, bare: str, stored: str, dialect: str, *, key: bool
) -> str:
    if kind is ColumnKind.TEXT:
        # In the owner's spelling still: whoever reads a text file does the rest.
        if key:
            return person_text(bare, stored, dialect)
        return read_as(kind, bare, engine_type=stored, dialect=dialect)
    plain, now = plain_cell(replace(column, moment=None), bare, stored, dialect)
    if kind is ColumnKind.NUMBER:
        return f"CAST({number_cell(plain, now, dialect)} AS {DIALECTS[dialect].double})"
    return read_as(kind, plain, engine_type=now, dialect=dialect)


OWN, OTHER = "b", "o"
"""What the rows at hand, and those of the tables on the way, go by in these texts."""


def followed_paths(
    dataset: str, tables: Sequence[Table], dialect: str = "duckdb"
) -> dict[str, FollowedPath]:
    """Return by the engine's name the paths of a dataset's tables.

    Guarantee: two cells lead to one person exactly if the table that names people reads them as one:
        the text is that of its own canonical rows (`unit_cell` over `plain_cell`).
    """
    by_name = {table.name.lower(): table for table in tables}
    return {
        f"{dataset}.{table.name}": followed_path(dataset, table, by_name, dialect)
        for table in tables
        if table.path is not None
    }


def every_path(datasets: Iterable[Dataset], engine_url: str) -> dict[str, FollowedPath]:
    """Return by the engine's name the paths of all tables of these datasets."""
    found: dict[str, FollowedPath] = {}
    for dataset in datasets:
        found |= followed_paths(dataset.name, dataset.tables, kind_of(engine_url).dialect.name)
    return found


def followed_path(
    dataset: str, table: Table, by_name: Mapping[str, Table], dialect: str = "duckdb"
) -> FollowedPath:
    """Return the path of one table; `by_name` are all tables of the dataset in small letters."""
    assert table.path is not None, "only a table with a path is asked"
    steps = []
    sides = chain([OWN], repeat(OTHER))
    reached = table
    for step, side in zip(table.path.steps, sides, strict=False):
        reached = by_name[step.table.lower()]
        key = _declared(reached, step.key)
        steps.append(
            FollowedStep(
                f"{dataset}.{reached.name}",
                _way_cell(step.column, key, side, dialect),
                _way_cell(step.key, key, OTHER, dialect),
            )
        )
    person = _declared(reached, table.path.column)
    whole = isinstance(person.domain, IntegerDomain)
    return FollowedPath(tuple(steps), _way_cell(table.path.column, person, OTHER, dialect), whole)


def _declared(table: Table, name: str) -> Column:
    for column in table.columns:
        if column.name.lower() == name.lower():
            return column
    return Column(name, IdentifierDomain())


def _way_cell(name: str, read_as: Column, side: str, dialect: str) -> PathCell:
    bare = f"{side}.{quoted(name, dialect)}"
    texts = []
    whole = isinstance(read_as.domain, IntegerDomain)
    wanted = ColumnKind.INTEGER if whole else ColumnKind.TEXT
    for kind, engine_type in STORED.items():
        plain, now = plain_cell(read_as, bare, engine_type, dialect)
        if not readable(wanted, now):
            continue  # the engine refuses it: every row would be nobody's
        texts.append((kind.value, unit_cell(read_as, plain, now, dialect, whole=False)))
    return PathCell(name, tuple(texts))
