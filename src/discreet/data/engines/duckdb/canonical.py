"""From a source to its canonical snapshot: where its rows are now, how they are read, copied, hashed and stored.

Each content is made once. Text files are also kept as Parquet, of which the owner's readings are made.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from discreet.base.unit import FollowedPath, FollowedStep, PathCell
from discreet.data.engines.child import Child, Unreadable
from discreet.data.engines.copies import Recipe, combined
from discreet.data.engines.declared import DeclaredCell, declared_types, groups_of, refuse_own
from discreet.data.engines.delta import FileColumn
from discreet.data.engines.duckdb.snapshots import Snapshot, SnapshotFolder, SnapshotStore
from discreet.data.engines.files import (
    ContentHashes,
    FileKind,
    FileSource,
    csv_part,
    csv_parts,
    database_files,
    find_files,
    heading,
    is_open,
    looks_like_file,
    plain_files,
)
from discreet.data.engines.object_stores import Fetched, changes, fetched, is_remote
from discreet.errors import CatalogError, EngineFailed, InvalidInput

Types = dict[str, str]
SORTED_TIMES = 4
"""Rows are sorted where their files would fit into memory so many times: larger ones are read as they come."""


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """Where a table's rows are now: files, or a table inside the files of a database.

    `joined` are the tables over which its rows reach a person, named in `unit` of the last.
    """

    name: str
    files: FileSource
    parts: tuple[str, ...] = ()
    joined: tuple[tuple[FollowedStep, SourceOrigin], ...] = ()
    unit: PathCell | None = None

    @property
    def every(self) -> tuple[SourceOrigin, ...]:
        """Return all origins that are read for this table, its own first."""
        return (self, *(origin for _, origin in self.joined))

    @property
    def within(self) -> str:
        """Return what of its files is read, and how, where the files alone do not say it; else nothing."""
        found = [(each.parts, each.files.part, each.files.cells is not None) for each in self.every]
        path = ([step for step, _ in self.joined], self.unit)
        return repr((found, path)) if any(map(any, [*found, path])) else ""

    def label(self, contents: Sequence[str]) -> str:
        """Return the fingerprint of the rows that lie within files of these contents."""
        return combined([*contents, self.within] if self.within else contents)


@dataclass(frozen=True, slots=True)
class SnapshotMaker:
    """Finds and makes snapshots."""

    store: SnapshotStore
    hashes: ContentHashes
    common: Mapping[str, Any]
    seconds: float

    def snapshot(self, origin: SourceOrigin, recipe: Recipe) -> tuple[Snapshot, str]:
        """Return the snapshot of a source's present content, held, and the fingerprint of its rows.

        Guarantee: the rows are those of one state of the files, whose hash is returned: they are
            read from a private copy, which is hashed while it is written.
        """
        found, content = self._present(origin, recipe)
        self.store.remember(self._alias(origin.name, recipe, content), found.name)
        return found, content

    def stored(self, name: str, recipe: Recipe, content: str) -> Snapshot | None:
        """Return a snapshot of content that a source had, held; None where it is kept no more."""
        return self.store.remembered(self._alias(name, recipe, content))

    def content(self, origin: SourceOrigin) -> str:
        """Return the fingerprint of a source's present rows."""
        return origin.label([self.hashes.of(each.files) for each in origin.every])

    def _alias(self, name: str, recipe: Recipe, content: str) -> str:
        # Nothing of what the tables are like at present: that would tell of rows of today.
        return self.store.name("stored", name, recipe.declared, content)

    def _present(self, origin: SourceOrigin, recipe: Recipe) -> tuple[Snapshot, str]:
        known = [self.hashes.known(each.files) for each in origin.every]
        if None not in known:
            content = origin.label([each for each in known if each is not None])
            found = self.store.find(self._name(origin, recipe, content))
            if found is not None:
                return found, content
        with self.store.room() as room:
            folder = room.folder / "copy"
            folder.mkdir(mode=0o700)
            copies, content = self._copied(origin, folder)
            found = self.store.find(self._name(origin, recipe, content))
            if found is not None:
                return found, content
            setup = self._setup(origin, copies, room)
            with opened_alone(origin.name, setup) as child:
                return self._made(origin, recipe, content, child, room), content

    def _copied(self, origin: SourceOrigin, folder: Path) -> tuple[list[FileSource], str]:
        """Return private copies of everything that is read, and the fingerprint of exactly those."""
        copies, contents = [], []
        for i, each in enumerate(origin.every):
            place = folder / str(i)
            place.mkdir(mode=0o700)
            copy, content = self.hashes.copy(each.files, place)
            copies.append(plain_files(copy, place))
            contents.append(content)
        return copies, origin.label(contents)

    def _made(
        self, origin: SourceOrigin, recipe: Recipe, content: str, child: Child, room: SnapshotFolder
    ) -> Snapshot:
        types = _described(origin.name, json.loads(child.ask(b"C" + b"source.t", self.seconds)))
        recipe.check(types)
        copied = sum(file.stat().st_size for file in room.folder.rglob("*") if file.is_file())
        fits = SORTED_TIMES * copied <= self.common["memory_mb"] << 20
        stored = partial(recipe.stored, types, "source.t", salt=self.store.salt())
        order = {
            "path": str(room.rows),
            "sorted": stored(fits=fits),
            "as it comes": stored(fits=False),
            "dropped": recipe.dropped(types, "source.t", stored="fresh.main.t"),
            "counted": recipe.foreseen("fresh.main.t"),
        }
        try:
            counts = json.loads(child.ask(b"M" + json.dumps(order).encode(), self.seconds))
        except EngineFailed:
            raise unreadable(origin.name) from None
        shutil.rmtree(room.folder / "copy", ignore_errors=True)
        return self.store.add(self._name(origin, recipe, content), origin.name, room, counts)

    def _name(self, origin: SourceOrigin, recipe: Recipe, content: str) -> str:
        import duckdb  # our children do the reading: who makes no snapshot goes without

        # Nothing of other tables: the source's own schema is part of its content.
        read = repr([each.files.cells for each in origin.every])
        parts = (origin.name, ".".join(origin.parts), content, recipe.declared, read)
        return self.store.name(*parts, duckdb.__version__)

    def _setup(
        self, origin: SourceOrigin, copies: Sequence[FileSource], room: SnapshotFolder
    ) -> dict[str, Any]:
        places = [
            place_of(each.name, copy, each.parts)
            for each, copy in zip(origin.every, copies, strict=True)
        ]
        database = places[0][1]
        place = joined_place(origin, [place for place, _ in places])
        return {
            **self.common,
            "database": database,
            "sources": {"t": place},
            "folders": [f"{room.folder}/"],
        }


@contextmanager
def opened_alone(name: str, setup: dict[str, Any]) -> Iterator[Child]:
    """Lend a child of its own that has one source and no other, as source.t; or refuse that source."""
    with closing(Child("discreet.data.engines.duckdb.worker", setup)) as child:
        try:
            child.wait_ready()
        except Unreadable:
            raise unreadable(name) from None
        yield child


def place_of(
    name: str, files: FileSource, parts: tuple[str, ...]
) -> tuple[dict[str, Any], str | None]:
    """Return how a child opens a source, and the database file in which it lies, if any."""
    if files.kind is FileKind.DATABASE:
        return {"table": list(parts)}, str(files.paths[0])
    if files.cells is not None:
        return {
            "read": {"cells": [astuple(cell) for cell in files.cells], "parts": _parts(name, files)}
        }, None
    if files.kind is FileKind.CSV:
        return {"csv": csv_parts(name, files)}, None
    return _parquet(files.paths, files.constants), None


def _parquet(paths: Sequence[Path], constants: Sequence[tuple[FileColumn, ...]]) -> dict[str, Any]:
    place: dict[str, Any] = {"parquet": [str(path) for path in paths]}
    if any(constants):
        place["constants"] = _told(constants)
    return place


def _told(constants: Sequence[tuple[FileColumn, ...]]) -> list[list[tuple[Any, ...]]]:
    return [[astuple(each) for each in file] for file in constants]


def _parts(name: str, files: FileSource) -> list[dict[str, Any]]:
    """Return how a child opens files that are read as declared: those that are alike together."""
    places = []
    for group in groups_of(files.paths, files.constants, lambda path: heading(name, path)):
        if group.parquet:
            places.append(_parquet(group.paths, group.constants))
        else:
            parts = [csv_part(name, path) for path in group.paths]
            places.append({"csv": parts, "constants": _told(group.constants)})
    return places


def joined_place(origin: SourceOrigin, places: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how a child opens a table of which rows reach their people over others."""
    if origin.unit is None:
        return places[0]
    steps = [
        {"here": astuple(step.here), "key": astuple(step.key), "place": place}
        for (step, _), place in zip(origin.joined, places[1:], strict=True)
    ]
    return {"join": {"base": places[0], "steps": steps, "unit": astuple(origin.unit)}}


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


def unreadable(name: str, damaged: InvalidInput | None = None) -> CatalogError:
    """Return the refusal of a source that cannot be opened; `damaged` says why, if that is known."""
    if damaged is not None:
        said = f"The source of table '{name}' could not be read. {damaged.message}"
        return CatalogError(said, hint=damaged.hint)
    return CatalogError(
        f"The source of table '{name}' could not be read.",
        hint="Check that it is a CSV file in UTF-8 (or of the declared encoding) with a first line "
        "of column names and as many cells in every line, or a Parquet file, or a table of the "
        "database; and that there is room on the disk for a copy of it.",
    )


class TextCopies:
    """The Parquet copies of CSV sources in one folder.

    `setup` says how a child opens one place. `in_place`: the folder goes with its engine, so files are
    read where they lie and told apart by their state, neither copied nor hashed.
    """

    def __init__(
        self,
        folder: Path,
        hashes: ContentHashes,
        setup: Callable[[Any], dict[str, Any]],
        *,
        seconds: float,
        in_place: bool,
    ) -> None:
        self._folder = folder
        self._hashes = hashes
        self._setup = setup
        self._seconds = seconds
        self._in_place = in_place

    def of(self, origin: SourceOrigin) -> Path:
        """Return the Parquet copy of a CSV source, made now unless this content has one."""
        at_once = self._now(origin) if self._in_place else None
        if at_once is not None:
            return at_once
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-") as made:
            folder = Path(made)
            content = self._hashes.known(origin.files)
            copy = origin.files
            if content is None or not self._file(content, copy).is_file():
                copy, content = self._hashes.copy(origin.files, folder)
            target = self._file(content, copy)
            if not target.is_file():
                plain = plain_files(copy, folder)
                self._write(origin.name, plain, folder / "text.parquet")
                (folder / "text.parquet").replace(target)
        return target

    def _now(self, origin: SourceOrigin) -> Path | None:
        """Return the Parquet copy made from the files where they lie.

        None where their state cannot be told, or changed meanwhile: then a private copy is needed.
        """
        state = self._hashes.state(origin.files)
        if state is None:
            return None
        target = self._file(state, origin.files)
        if not target.is_file():
            with tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-") as made:
                plain = plain_files(origin.files, Path(made))
                self._write(origin.name, plain, Path(made) / "text.parquet")
                if self._hashes.state(origin.files) != state:
                    return None
                (Path(made) / "text.parquet").replace(target)
        return target

    def _file(self, content: str, files: FileSource) -> Path:
        read = "".join(f"-{word}" for word in (files.encoding, files.part.encode().hex()) if word)
        return self._folder / f"csv-{content}{read}.parquet"

    def _write(self, name: str, copy: FileSource, target: Path) -> None:
        place = place_of(name, copy, ())[0]
        parts = place.get("csv", ())
        child = Child("discreet.data.engines.duckdb.worker", self._setup(place))
        order = {
            "sql": "SELECT * FROM source.t",
            "path": str(target),
            "typed": True,
            "file": parts[0] if len(parts) == 1 else None,
            "compression": "uncompressed" if self._in_place else "snappy",
        }
        try:
            child.wait_ready(self._seconds)
            child.ask(b"S" + json.dumps(order).encode(), self._seconds)
        except Exception:  # noqa: BLE001 whatever it was, its text may hold a cell
            raise unreadable(name) from None
        finally:
            child.close()


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
