"""Joins from a table's rows to the people they belong to, as SQL that every engine reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.core.path import FollowedPath, PathCell
from discreet.engine.declared import folded
from discreet.engine.dialect.storage import storage
from discreet.engine.dialect.types import holds_nothing
from discreet.errors import CatalogError

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
