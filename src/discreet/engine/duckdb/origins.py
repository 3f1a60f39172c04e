"""Where the rows of DuckDB's tables are at this moment, and how what is found there is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.core.path import FollowedPath
from discreet.engine.declared import DeclaredCell, declared_types
from discreet.engine.duckdb.canonical import SnapshotMaker, SourceOrigin, unreadable
from discreet.engine.duckdb.snapshots import Snapshot
from discreet.engine.files import (
    FileKind,
    csv_parts,
    database_files,
    find_files,
    is_open,
    looks_like_file,
)
from discreet.engine.lakes.objects import Fetched, changes, fetched, is_remote
from discreet.engine.person_joins import refuse_own
from discreet.engine.recipe import Recipe
from discreet.errors import CatalogError

Listed = dict[str, Fetched]
"""What stores hold, by source: asked once for all that reads one dictionary."""
_TRIES = 3


@dataclass(frozen=True, slots=True)
class SourceOrigins:
    """The sources of an engine by table. `state` is where what is fetched from stores is kept."""

    database: Path | None
    sources: Mapping[str, str]
    base: Path
    state: Path
    encodings: Mapping[str, str]
    paths: Mapping[str, FollowedPath]
    cells: Mapping[str, tuple[DeclaredCell, ...]]

    def __contains__(self, name: object) -> bool:
        return name in self.sources

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def check(self) -> None:
        """Refuse what is not there; a store is asked when a question needs it."""
        for name, source in self.sources.items():
            if not is_remote(source):
                self.origin(name)

    def snapshot(
        self, name: str, recipe: Recipe, maker: SnapshotMaker, listed: Listed
    ) -> tuple[Snapshot, str]:
        """Return a table's snapshot, held, and the hash of its content.

        Guarantee: what was fetched from a store is read whole, as one listing of it said: if another
            process fetches a newer state meanwhile, it is read again.
        """
        for _ in range(_TRIES):
            try:
                found = maker.snapshot(self.origin(name, listed=listed), recipe)
            except (OSError, CatalogError) as error:
                if not all(each.stands() for each in listed.values()):
                    listed.clear()
                    continue
                raise unreadable(name) if isinstance(error, OSError) else error from None
            if all(each.stands() for each in listed.values()):
                return found
            found[0].release()
            listed.clear()
        raise changes(name)

    def origin(self, name: str, *, raw: bool = False, listed: Listed | None = None) -> SourceOrigin:
        """Return where a table's rows are at this moment, and those by which it knows its people.

        `raw`: as the files store them, for the owner's own tools; files that differ are refused there.
        """
        seen = {} if listed is None else listed
        own, path = self._own(name, seen, raw=raw), self.paths.get(name)
        if path is None:
            return own
        joined = tuple((step, self._own(step.table, seen, raw=raw)) for step in path.steps)
        return replace(own, joined=joined, unit=path.unit)

    def names(self, name: str, origin: SourceOrigin | None = None) -> list[str] | None:
        """Return the names of a source's columns where no type is needed for it, None elsewhere.

        `origin`: where its rows are, for whoever has looked already.
        """
        cells = self.read_as(name)
        if cells is not None:
            own = [cell.column for cell in cells]
            return [*own, *self.reached(name, own)]
        files = (origin or self.origin(name)).files
        if files.kind is not FileKind.CSV:
            return None
        found: list[str] = csv_parts(name, files)[0]["columns"]
        return [*found, *self.reached(name, found)]

    def types(self, name: str) -> dict[str, str] | None:
        """Return the types of a source's columns that no file and no row can change.

        Those of text files and of what is read as declared; None where a file or a database states them.
        """
        names = self.names(name)
        if names is None:
            return None
        path = self.paths.get(name)
        person = "BIGINT" if path is not None and path.whole else "VARCHAR"
        known = declared_types(self.read_as(name) or ())
        reached = {} if path is None else {path.column.lower(): person}
        return {column.lower(): "VARCHAR" for column in names} | known | reached

    def _own(self, name: str, listed: Listed, *, raw: bool) -> SourceOrigin:
        source = self.sources[name]
        if self.database is not None and not looks_like_file(source):
            return SourceOrigin(name, database_files(self.database), tuple(source.split(".")))
        cells = None if raw else self.read_as(name)
        if is_remote(source):
            if source not in listed:
                any_files = cells is not None
                listed[source] = fetched(name, source, self.state, any_files=any_files)
            source = listed[source].path
        encoding = self.encodings.get(name, "")
        return SourceOrigin(name, find_files(name, source, self.base, encoding, cells))

    def read_as(self, name: str) -> tuple[DeclaredCell, ...] | None:
        """Return how the columns of a source are read that may be any number of files."""
        source = self.sources[name]
        inside = self.database is not None and not looks_like_file(source)
        if inside or not is_open(source, self.base):
            return None
        return self.cells.get(name)

    def reached(self, name: str, own: Sequence[str]) -> list[str]:
        """Return the column that a path adds to a table, which must not have one of that name."""
        if name not in self.paths:
            return []
        refuse_own(name, self.paths[name], own)
        return [self.paths[name].column]
