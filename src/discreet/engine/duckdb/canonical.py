"""From a source to its canonical snapshot: copied, hashed, described, made; each content once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from discreet.engine.base import Recipe
from discreet.engine.child import Child, Unreadable
from discreet.engine.duckdb.snapshots import DiskRoom, Snapshot, SnapshotStore
from discreet.engine.files import (
    ContentHashes,
    FileKind,
    FileSource,
    csv_parts,
    plain_files,
)
from discreet.errors import CatalogError, EngineFailed

Types = dict[str, str]


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """Where a table's rows are now: files, or a table inside the files of a database."""

    name: str
    files: FileSource
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Maker:
    """Finds and makes snapshots. `others` gives the column types of a table that is not held."""

    store: SnapshotStore
    hashes: ContentHashes
    common: Mapping[str, Any]
    seconds: float
    others: Callable[[str], Types]

    def snapshot(self, origin: SourceOrigin, recipe: Recipe) -> tuple[Snapshot, str]:
        """Return the snapshot of a source's present content, held, and the content's hash.

        Guarantee: the rows are those of one state of the files, whose hash is returned: they are
            read from a private copy, which is hashed while it is written.
        """
        content = self.hashes.known(origin.files)
        if content is not None:
            found = self.store.find(self._name(origin, recipe, content))
            if found is not None:
                return found, content
        with self.store.room() as room:
            folder = room.folder / "copy"
            folder.mkdir(mode=0o700)
            copy, content = self.hashes.copy(origin.files, folder)
            found = self.store.find(self._name(origin, recipe, content))
            if found is not None:
                return found, content
            plain = plain_files(copy, folder)
            child = Child("discreet.engine.duckdb.worker", self._setup(origin, plain, room))
            try:
                return self._made(origin, recipe, content, child, room), content
            finally:
                child.close()

    def _made(
        self, origin: SourceOrigin, recipe: Recipe, content: str, child: Child, room: DiskRoom
    ) -> Snapshot:
        try:
            child.wait_ready()
        except Unreadable:
            raise unreadable(origin.name) from None
        types = _described(origin.name, json.loads(child.ask(b"C" + b"source.t", self.seconds)))
        recipe.check(types)
        whole = self._others_whole(origin, recipe) and recipe.whole({origin.name: types})
        order = {
            "path": str(room.rows),
            "sql": recipe.stored(types, "source.t", whole=whole, salt=self.store.salt()),
            "dropped": recipe.dropped(types, "source.t", whole=whole, stored="fresh.main.t"),
        }
        try:
            dropped = json.loads(child.ask(b"M" + json.dumps(order).encode(), self.seconds))
        except EngineFailed:
            raise unreadable(origin.name) from None
        shutil.rmtree(room.folder / "copy", ignore_errors=True)
        return self.store.add(self._name(origin, recipe, content), origin.name, room, dropped)

    def _name(self, origin: SourceOrigin, recipe: Recipe, content: str) -> str:
        # The source's own schema is part of its content; that of the other tables is not.
        others = str(self._others_whole(origin, recipe))
        parts = (origin.name, ".".join(origin.parts), content, recipe.declared, others)
        return self.store.name(*parts, duckdb.__version__)

    def _others_whole(self, origin: SourceOrigin, recipe: Recipe) -> bool:
        """Return whether the other tables of the same people store them as integers."""
        return recipe.whole({n: self.others(n) for n in recipe.people if n != origin.name})

    def _setup(self, origin: SourceOrigin, copy: FileSource, room: DiskRoom) -> dict[str, Any]:
        place, database = place_of(origin.name, copy, origin.parts)
        return {
            **self.common,
            "database": database,
            "sources": {"t": place},
            "folders": [f"{room.folder}/"],
        }


def place_of(
    name: str, files: FileSource, parts: tuple[str, ...]
) -> tuple[dict[str, Any], str | None]:
    """Return how a child opens a source, and the database file in which it lies, if any."""
    if files.kind is FileKind.DATABASE:
        return {"table": list(parts)}, str(files.paths[0])
    if files.kind is FileKind.CSV:
        return {"csv": csv_parts(name, files)}, None
    return {"parquet": [str(path) for path in files.paths]}, None


def _described(name: str, columns: list[list[str]]) -> Types:
    types: Types = {}
    for column, kind in columns:
        if column.lower() in types:
            raise CatalogError(
                f"The source of table '{name}' has two columns called '{column.lower()}'.",
                hint="Upper and lower case do not tell columns apart: rename one of them.",
            )
        types[column.lower()] = kind
    return types


def unreadable(name: str) -> CatalogError:
    """Return the refusal of a source that cannot be opened."""
    return CatalogError(
        f"The source of table '{name}' could not be read.",
        hint="Check that it is a CSV file in UTF-8 (or of the declared encoding) with a first line "
        "of column names and as many cells in every line, or a Parquet file, or a table of the "
        "database.",
    )
