"""Tables as their owner declared them: cells of several files read as one table, and joins from rows to their people.

Which files there are, which columns each has and how it stores them may depend on a single person: a
file may be theirs, and a writer makes a column of whole numbers with one gap a column of decimals. So
none of it decides how another file is read, and none of it is an error. What a column is stored as is
known to whoever opens a file; a cell comes as one text of SQL for each storage, and the engine picks.
Joins to people are SQL that every engine reads.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.base.unit import FollowedPath, PathCell
from discreet.data.engines.column_types import holds_nothing, storage
from discreet.errors import CatalogError

if TYPE_CHECKING:
    from discreet.data.engines.delta import FileColumn


HERE = "b"
"""What the rows of one file, or of files that are alike, go by in the texts of cells."""
_FILLED = "discreet_filled_"
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Texts = tuple[tuple[str, str], ...]
"""Pairs of a storage's name and the SQL that reads a column which is stored so."""


@dataclass(frozen=True, slots=True)
class DeclaredCell:
    """A declared column: the SQL type that it is read as, and how, for each way of storing it.

    `filled` is NULL where the cell holds nothing, for counts of what a declaration leaves out.
    """

    column: str
    kind: str
    by_storage: Texts
    filled: Texts


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files with the same columns, stored in the same ways; `constants` are each one's own."""

    paths: tuple[Path, ...]
    constants: tuple[tuple[FileColumn, ...], ...]
    parquet: bool


def folded(name: str) -> str:
    """Return a column's name as engines compare it: A to Z are small letters, and nothing else is.

    Python's `lower` also folds letters that DuckDB tells apart: a file with GRÖSSE would be taken for one
    with größe, and fail when it is read.
    """
    return name.translate(_SMALL)


def filled_name(column: str) -> str:
    """Return the name of the column that says whether a cell held anything."""
    return f"{_FILLED}{column.lower()}"


def is_filled_name(column: str) -> bool:
    """Return whether a column is one of those that `filled_name` names."""
    return column.startswith(_FILLED)


def declared_types(cells: Sequence[DeclaredCell]) -> dict[str, str]:
    """Return the types of a table that is read as declared, by its columns in small letters."""
    return {cell.column.lower(): cell.kind for cell in cells}


def cells_of(
    cells: Sequence[DeclaredCell], types: Mapping[str, str], quote: Callable[[str], str]
) -> list[str]:
    """Return the SELECT list that reads rows of these column types (small letters) as declared.

    Guarantee: total, and the same columns of the same types for any `types`: a column that the rows
        lack is NULL, and so is a cell whose storage holds no value of what is declared.
    """
    found = []
    for cell in cells:
        stored = types.get(folded(cell.column))
        read, filled = f"CAST(NULL AS {cell.kind})", "CAST(NULL AS INT)"
        if stored is not None:
            way = storage(stored).value
            read = dict(cell.by_storage)[way]
            filled = f"CASE WHEN ({dict(cell.filled)[way]}) IS NOT NULL THEN 1 END"
        found.append(f"{read} AS {quote(cell.column)}")
        found.append(f"{filled} AS {quote(filled_name(cell.column))}")
    return found


def nothing_of(cells: Sequence[DeclaredCell], quote: Callable[[str], str]) -> str:
    """Return the SELECT of a table that has no file: its columns, and no row."""
    return f"SELECT {', '.join(cells_of(cells, {}, quote))} WHERE 1 = 0"


def groups_of(
    paths: Sequence[Path],
    constants: Sequence[tuple[FileColumn, ...]],
    names_of: Callable[[Path], Sequence[str] | None],
) -> list[FileGroup]:
    """Return files in groups of which each can be read in one way.

    `names_of` gives the columns of a text file, None for Parquet; one without any tells of no row. A column of
    a file comes before one that a folder or a log keeps for it under the same name.
    """
    found: dict[object, list[tuple[Path, tuple[FileColumn, ...]]]] = {}
    texts = set()
    for i, path in enumerate(paths):
        listed = names_of(path)
        small = frozenset(map(folded, listed or ()))
        names, said = _schema(path) if listed is None else (small, small)
        if not names and said != path:
            continue  # no columns, so nothing of any row
        own = tuple(
            each for each in (constants[i] if constants else ()) if folded(each.column) not in names
        )
        key = (said, tuple((folded(each.column), each.kind) for each in own))
        found.setdefault(key, []).append((path, own))
        if listed is not None:
            texts.add(key)
    return [
        FileGroup(
            tuple(path for path, _ in group),
            tuple(own for _, own in group),
            parquet=key not in texts,
        )
        for key, group in found.items()
    ]


def _schema(path: Path) -> tuple[frozenset[str], object]:
    """Return the columns of a Parquet file in small letters, and what tells its schema from others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_metadata(path).schema
    except (OSError, pa.ArrowException):
        return frozenset(), path  # by itself: whoever reads it says that it cannot be read
    said = str(schema).partition("\n")[2]  # the first line names an address in memory
    return frozenset(map(folded, schema.to_arrow_schema().names)), said


Types = Mapping[str, str]
"""The engine's types of a source's columns, by their folded names."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A table on the way: its rows, their types, and the cells that are compared to get there."""

    rows: str
    types: Types
    here: PathCell
    key: PathCell


def joined_rows(
    base: str, types: Types, steps: Sequence[Reached], unit: PathCell, quoted: Callable[[str], str]
) -> str:
    """Return the SELECT of a table's rows, each beside the person whom it reaches.

    `base` and the rows of the steps stand behind FROM: a name, or a SELECT in brackets.

    Guarantee: a key that two people have makes a row of each; one that a person has twice makes one.
        Keys and people are compared as their own tables read them, so a person of many spellings is
        one, and the rows of a person depend on nobody else's.
    """
    first = _cell(steps[0].here, types)
    return (
        f"SELECT b.*, p.unit AS {quoted(unit.column)} FROM {base} AS b "
        f"LEFT JOIN ({_people(steps, unit)}) AS p ON {first} = p.key"
    )


def refuse_own(name: str, path: FollowedPath, own: Iterable[str]) -> None:
    """Refuse a table that has the column already which its path would add."""
    # As declarations are compared: in the letters of every alphabet.
    if path.column.lower() in {column.lower() for column in own}:
        raise CatalogError(
            f"Table '{name}' has a column '{path.column}' of its own; its unit needs no path.",
            hint=f'Write unit = "{path.column}", or rename the column.',
        )


def _people(steps: Sequence[Reached], unit: PathCell) -> str:
    """Return the keys of the first step's table with the people whom they lead to, each pair once."""
    step, rest = steps[0], steps[1:]
    key, more = _cell(step.key, step.types), ""
    if rest:
        whose, next_key = "n.unit", _cell(rest[0].here, step.types)
        more = f" JOIN ({_people(rest, unit)}) AS n ON {next_key} = n.key"
    else:
        whose = _cell(unit, step.types)
    return (
        f"SELECT DISTINCT {key} AS key, {whose} AS unit FROM {step.rows} AS o{more} "
        f"WHERE {key} IS NOT NULL AND {whose} IS NOT NULL"
    )


def _cell(read: PathCell, types: Types) -> str:
    """Return the SQL of a cell of a path, for what its column is stored as."""
    kind = types.get(folded(read.column))
    if kind is None:
        raise CatalogError(
            f"A path leads over column '{read.column}', which a table on the way lacks.",
            hint="Compare discreet.toml with the names of the columns of all tables on the way.",
        )
    if holds_nothing(kind):
        return "NULL"
    found = dict(read.by_storage).get(storage(kind).value)
    if found is None:
        raise CatalogError(
            f"A path leads over column '{read.column}', which is stored as {kind.lower()}: nobody "
            "would be reached.",
            hint="Give the table a source in which it is converted.",
        )
    return found
