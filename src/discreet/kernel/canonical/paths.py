"""How the tables of a dataset reach people over each other: the SQL of every cell that is compared.

A person has one reading in a dataset. The table that names people says how, and a table that reaches
them over a path gets them as that table reads them; a key on the way is read as its own table reads
it, on both sides. What a column is stored as is known to whoever opens the files, so a cell comes as
one text for each storage, and the engine picks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

from discreet.core.path import FollowedPath, FollowedStep, PathCell
from discreet.core.schema import Column, Dataset, IdentifierDomain, IntegerDomain, Table
from discreet.engine.dialect.names import quoted
from discreet.engine.dialect.storage import ColumnKind
from discreet.engine.dialect.types import readable
from discreet.engine.kinds import kind_of
from discreet.kernel.canonical.cells import unit_cell
from discreet.kernel.canonical.declared import STORED
from discreet.kernel.canonical.spelled import plain_cell

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
                _cell(step.column, key, side, dialect),
                _cell(step.key, key, OTHER, dialect),
            )
        )
    person = _declared(reached, table.path.column)
    whole = isinstance(person.domain, IntegerDomain)
    return FollowedPath(tuple(steps), _cell(table.path.column, person, OTHER, dialect), whole)


def _declared(table: Table, name: str) -> Column:
    for column in table.columns:
        if column.name.lower() == name.lower():
            return column
    return Column(name, IdentifierDomain())


def _cell(name: str, read_as: Column, side: str, dialect: str) -> PathCell:
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
