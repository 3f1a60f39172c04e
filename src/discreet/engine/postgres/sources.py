"""What stands behind the name of a table: one of the database, or one beside the people it reaches."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from discreet.core.path import FollowedPath, PathCell
from discreet.engine.declared import folded
from discreet.engine.dialect.names import quoted
from discreet.engine.dialect.table_names import canon, placed
from discreet.engine.person_joins import Reached, joined_rows, refuse_own
from discreet.engine.postgres.content import columns_of
from discreet.engine.postgres.labels import ENUM, as_text, enum_is_new, spelled
from discreet.engine.postgres.session import Connection
from discreet.errors import CatalogError, UnknownName

Columns = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PostgresRows:
    """The rows of a source, for the columns that its tables have: what stands behind FROM."""

    rows: str
    columns: Columns


class PostgresSources:
    """The tables of the catalog, and the paths over which some of them reach their people."""

    def __init__(self, sources: Mapping[str, str], paths: Mapping[str, FollowedPath]) -> None:
        self._places: dict[str, str] = {}
        for name, source in sources.items():
            parts = source.split(".") if "." in source else ["public", source]
            self._places[name] = ".".join(quoted(part) for part in parts)
        self._paths = {name: path for name, path in paths.items() if name in self._places}
        self._behind: dict[str, str] = {}
        for i, name in enumerate(self._paths):
            self._behind[_free(f"path {i}", self._places)] = name

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __repr__(self) -> str:
        said = repr(sorted(self._places.items()))
        return said + (repr(sorted(self._paths.items())) if self._paths else "")

    def spell(self, name: str, columns: Columns) -> None:
        """Read a table from now on by the labels of its enums, if it has such columns."""
        if name not in self._behind.values() and any(kind == ENUM for _, kind in columns):
            self._behind[_free(f"labels {len(self._behind)}", {*self._places, *self._behind})] = (
                name
            )

    @property
    def places(self) -> Mapping[str, str]:
        """Return the quoted SQL names of the tables themselves."""
        return self._places

    def relation(self, name: str) -> str:
        """Return what generated SQL calls a table; `behind` says what that stands for."""
        for key, joined in self._behind.items():
            if joined == name:
                return canon(key, "postgres")
        return self._places[name]

    def copied(self, name: str) -> str:
        """Return what the SELECT of a stored copy calls the rows of a table; see `placed_rows`."""
        return canon(f"source of {name}", "postgres")

    def placed_rows(self, name: str, sql: str, rows: str) -> str:
        """Return the SELECT of a stored copy of a table, over these rows."""
        return placed(sql, "postgres", {f"source of {name}": rows})

    def tables(self, name: str) -> dict[str, str]:
        """Return the quoted SQL names of all tables that are read for one."""
        steps = self._paths[name].steps if name in self._paths else ()
        return {each: self._place(each) for each in (name, *(step.table for step in steps))}

    def behind(self, wire: Connection, sql: str) -> dict[str, str]:
        """Return what the names in generated SQL stand for that are no tables of the database."""
        called = [(key, name) for key, name in self._behind.items() if quoted(key) in sql]
        return {key: self.now(wire, name).rows for key, name in called}

    def standing(self, found: Mapping[str, PostgresRows]) -> dict[str, str]:
        """Return the same for the rows of some tables that are at hand already."""
        return {key: found[name].rows for key, name in self._behind.items() if name in found}

    def now(self, wire: Connection, name: str) -> PostgresRows:
        """Return the rows of a table, for the columns that the tables have now."""
        path, (base, own) = self._paths.get(name), self._rows(wire, self._places[name])
        if path is None:
            if base != self._places[name] and name not in self._behind.values():
                raise enum_is_new(name)
            return PostgresRows(base, own)
        refuse_own(name, path, [column for column, _ in own])
        _named(name, own, path.steps[0].here)
        steps = []
        for step, then in zip(path.steps, [*path.steps[1:], None], strict=True):
            rows, columns = self._rows(wire, self._place(step.table))
            _named(step.table, columns, step.key, path.unit if then is None else then.here)
            types = {folded(column): kind for column, kind in columns}
            steps.append(Reached(rows, types, step.here, step.key))
        types = {folded(column): kind for column, kind in own}
        rows = joined_rows(base, types, steps, path.unit, quoted)
        added = (path.column, "bigint" if path.whole else "text")
        return PostgresRows(f"({rows})", [*own, added])

    def _rows(self, wire: Connection, place: str) -> tuple[str, Columns]:
        columns = columns_of(wire, place)
        return spelled(wire, place, columns), as_text(columns)

    def _place(self, name: str) -> str:
        if name not in self._places:
            raise UnknownName(f"The engine has no table '{name}'.")
        return self._places[name]


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that no table has: what it stands for must not be mistaken for one."""
    while name in taken:
        name += "+"
    return name


def _named(table: str, columns: Columns, *cells: PathCell) -> None:
    known = {column for column, _ in columns}
    for cell in cells:
        if cell.column not in known:
            raise CatalogError(
                f"A path leads over column '{cell.column}' of table '{table}', which its source lacks.",
                hint="Write it in the letters that the database uses.",
            )
