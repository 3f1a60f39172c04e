"""How Spark reads what it is given: where the rows of its tables are now, in files, remote places and stored tables.

Origins also say over which other tables rows reach people.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.functions import expr

from discreet.base.unit import FollowedPath
from discreet.data.engines.copies import combined
from discreet.data.engines.declared import (
    HERE,
    DeclaredCell,
    FileGroup,
    Reached,
    cells_of,
    folded,
    groups_of,
    joined_rows,
    nothing_of,
    refuse_own,
)
from discreet.data.engines.delta import LOG, FileColumn
from discreet.data.engines.dialects import quoted, text_constant
from discreet.data.engines.files import (
    ContentHashes,
    FileKind,
    FileSource,
    csv_part,
    csv_parts,
    find_files,
    heading,
    is_open,
)
from discreet.data.engines.formats import GZIP, ZIP, ZSTD, start_of, text_codec
from discreet.errors import CatalogError, UnknownName

_CHARSETS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "latin-1": "ISO-8859-1",
    "cp1252": "windows-1252",
}
"""Java's names for what Python calls the encodings of texts."""


def show_stored(session: Any, name: str, folder: Path) -> None:
    """Make a stored table readable."""
    session.read.parquet(f"file://{folder}").createOrReplaceTempView(kept(name))


def show(rows: Any, name: str) -> None:
    """Make rows readable under a table's name."""
    rows.createOrReplaceTempView(ticked(name))


def rows_of_files(session: Any, name: str, source: FileSource) -> Any:
    """Return the rows in the files of a source."""
    if source.cells is not None:
        return _read_declared(session, name, source, source.cells)
    if source.constants:
        return _read_with_constants(session, source)
    if source.kind is FileKind.PARQUET:
        return _read_parquet(session, source)
    _refuse_foreign(name, source)
    parts = csv_parts(name, source)
    first = parts[0]["columns"]
    frames = [_read_csv(session, part, first, source.encoding) for part in parts]
    return functools.reduce(lambda one, two: one.union(two), frames)


def beside_people(
    session: Any, name: str, rows: Any, path: FollowedPath, on_the_way: Sequence[Any]
) -> Any:
    """Return the rows of a table, each beside the person whom it reaches; see `joined_rows`.

    `on_the_way` are the rows of the tables that the steps of the path lead to.
    """
    refuse_own(name, path, rows.columns)
    views = [f"way_{uuid.uuid4().hex}" for _ in (rows, *on_the_way)]
    try:
        for frame, view in zip((rows, *on_the_way), views, strict=True):
            show(frame, view)
        steps = [
            Reached(view, _types(frame), step.here, step.key)
            for step, frame, view in zip(path.steps, on_the_way, views[1:], strict=True)
        ]
        return session.sql(joined_rows(views[0], _types(rows), steps, path.unit, ticked))
    finally:  # the result has their plans in it, and needs their names no more
        for view in views:
            session.catalog.dropTempView(view)


def _types(rows: Any) -> dict[str, str]:
    return {folded(column): kind for column, kind in rows.dtypes}


@contextlib.contextmanager
def in_one_sentence(name: str) -> Iterator[None]:
    """Say that a source cannot be read in our own words: Spark's text may hold a cell, hosts, files."""
    try:
        yield
    except CatalogError:
        raise
    except Exception:  # noqa: BLE001 whatever it was
        raise CatalogError(
            f"The source of table '{name}' could not be read.",
            hint="Spark reads Parquet files and CSV files with a first line of column names.",
        ) from None


def _refuse_foreign(name: str, source: FileSource) -> None:
    if source.part or None in {_charset(path, source.encoding) for path in source.paths}:
        raise CatalogError(
            f"Spark reads the files of table '{name}' as CSV or as Parquet only.",
            hint="Convert them, or let DuckDB read them.",
        )


def _charset(path: Path, encoding: str) -> str | None:
    """Return Java's name for the encoding of a text that Spark reads as it lies, None for other files.

    Guarantee: judged as for every engine by the mark at the beginning and by what is declared.
    """
    start = start_of(path)
    by_name = start[:2] != GZIP or path.suffix == ".gz"  # the name alone makes Spark unpack it
    codec = text_codec(path, encoding) if by_name and start not in (ZIP, ZSTD) else None
    return None if codec is None else _CHARSETS[codec]


def _read_parquet(session: Any, source: FileSource) -> Any:
    """Return the rows; times in nanoseconds, which Spark reads as integers, become times again."""
    frame = session.read.parquet(*(f"file://{path}" for path in source.paths))
    fields = {field.name: field.type for field in pq.read_schema(source.paths[0])}
    fine = [n for n, t in fields.items() if pa.types.is_timestamp(t) and t.unit == "ns"]
    for column in fine:
        cell = ticked(column)
        # Rounded down, as everywhere: a moment before midnight stays on its day.
        frame = frame.withColumn(
            column, expr(f"timestamp_micros(({cell} - pmod({cell}, 1000)) div 1000)")
        )
    return frame


def _read_with_constants(session: Any, source: FileSource) -> Any:
    """Return the rows of files, each beside the columns that a lake's log keeps for its file."""
    frames = []
    group = FileGroup(source.paths, source.constants, parquet=True)
    for constants, paths in _by_constants(group).items():
        frame = _read_parquet(session, FileSource(source.kind, tuple(paths)))
        for each in constants:
            frame = frame.withColumn(each.column, _constant(each))
        frames.append(frame)
    return functools.reduce(lambda one, two: one.unionByName(two, True), frames)


def _constant(each: FileColumn) -> Any:
    """Return the value that a log or a folder keeps for a file; NULL where it is none of its type."""
    kind = "STRING" if each.kind == "VARCHAR" else each.kind
    said = "NULL" if each.value is None else text_constant(each.value, "spark")
    return expr(f"try_cast({said} AS {kind})")


def _read_declared(
    session: Any, name: str, source: FileSource, cells: Sequence[DeclaredCell]
) -> Any:
    """Return the rows of files of any columns and types, every cell read as declared.

    Guarantee: columns and their types are the declared ones, whatever files there are; each row is a
        function of its own file.
    """
    frames = []
    texts = [path for path in source.paths if start_of(path) != b"PAR1"]
    _refuse_foreign(name, replace(source, paths=tuple(texts)))

    def names_of(path: Path) -> list[str] | None:
        return heading(name, path, source.encoding)

    for group in groups_of(source.paths, source.constants, names_of):
        frame = _read_group(session, name, group, source.encoding)
        frames.append(frame.alias(HERE).selectExpr(*cells_of(cells, _types(frame), ticked)))
    if not frames:
        return session.sql(nothing_of(cells, ticked))
    return functools.reduce(lambda one, two: one.union(two), frames)


def _by_constants(group: FileGroup) -> dict[tuple[FileColumn, ...], list[Path]]:
    alike: dict[tuple[FileColumn, ...], list[Path]] = {}
    for path, constants in zip(group.paths, group.constants, strict=True):
        alike.setdefault(constants, []).append(path)
    return alike


def _read_group(session: Any, name: str, group: FileGroup, encoding: str) -> Any:
    """Return the rows of files that are alike, beside the columns that each has for all of its rows."""
    frames: list[Any] = []
    first = [] if group.parquet else csv_part(name, group.paths[0], encoding)["columns"]
    for constants, paths in _by_constants(group).items():
        if group.parquet:
            read = [_read_parquet(session, FileSource(FileKind.PARQUET, tuple(paths)))]
        else:
            parts = [csv_part(name, path, encoding) for path in paths]
            read = [_read_csv(session, part, first, encoding) for part in parts]
        for frame in read:
            for each in constants:
                frame = frame.withColumn(each.column, _constant(each))  # noqa: PLW2901
            frames.append(frame)
    return functools.reduce(lambda one, two: one.union(two), frames)


def _read_csv(session: Any, part: dict[str, Any], wanted: list[str], encoding: str) -> Any:
    """Return every cell as text, an empty one as NULL, in the order of the first file's columns."""
    schema = ", ".join(f"{ticked(column)} STRING" for column in part["columns"])
    frame = session.read.csv(
        f"file://{part['path']}",
        schema=schema,
        encoding=_charset(Path(part["path"]), encoding),
        header=True,
        sep=part["delimiter"],
        quote='"',
        escape='"',
        multiLine=True,
    )
    cells = [f"nullif({ticked(column)}, '') AS {ticked(column)}" for column in wanted]
    return frame.selectExpr(*cells)


def rows_of_place(session: Any, name: str, place: str) -> Any:
    """Return the rows at a place of any Hadoop file system."""
    _refuse_lake(session, name, place)
    if place.lower().endswith((".csv", ".tsv", ".txt", ".gz")):
        return session.read.csv(place, header=True, quote='"', escape='"', multiLine=True)
    return session.read.parquet(place)


def _refuse_lake(session: Any, name: str, place: str) -> None:
    """Refuse a table of a lake: reading all of its files would count deleted rows again."""
    found = listing(session, place)
    if any(
        f"/{LOG}/" in file or ".metadata.json|" in file or "/.hoodie/" in file for file in found
    ):
        raise CatalogError(
            f"The source of table '{name}' is a Delta, Iceberg or Hudi table in a remote store, "
            "which Spark reads here only with packages that are not part of this product.",
            hint="Let DuckDB read a Delta table, or export its newest state to Parquet.",
        )


def listing(session: Any, place: str) -> list[str]:
    """Return name, size and time of every file below a place of any Hadoop file system."""
    context = session.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001 the only way to ask Hadoop
    system = path.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001 likewise
    found = []
    for match in system.globStatus(path) or []:
        files = system.listFiles(match.getPath(), True)
        while files.hasNext():
            file = files.next()
            found.append(f"{file.getPath()}|{file.getLen()}|{file.getModificationTime()}")
    return sorted(found)


def ticked(name: str) -> str:
    """Return `name` as an identifier of Spark's."""
    return quoted(name, "spark")


def kept(name: str) -> str:
    """Return the name of the view of a stored table."""
    return f"kept_{name}"


StoredFacts = tuple[str, ...]
_TICK = 0.05
"""Seconds after which a file system's clock has moved on, so that one more change would show."""
Listed = Callable[[str], Sequence[str]]
"""Asks a remote place what it holds: names, sizes and times."""


class SparkOrigins:
    """Files and remote places by table, and the paths over which some tables reach their people.

    Guarantee: facts, content and reading of a table are those of every table that is read for it,
        so a change on the way to its people is a change of the table.
    """

    def __init__(
        self,
        sources: Mapping[str, str],
        base: Path,
        *,
        encodings: Mapping[str, str],
        paths: Mapping[str, FollowedPath],
        cells: Mapping[str, tuple[DeclaredCell, ...]],
    ) -> None:
        self._sources = dict(sources)
        self._base = base
        self._encodings = encodings
        self._paths = {name: path for name, path in paths.items() if name in sources}
        self._cells = cells
        self._files: dict[str, FileSource] = {}
        for name in self._sources:
            self.refresh(name)

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def source(self, name: str) -> str:
        """Return what the catalog calls a table's rows."""
        return self._sources[name]

    def refresh(self, name: str) -> None:
        """Look again for the files of a table; how they are read depends on the catalog alone."""
        for each in self._read_for(name):
            source, encoding = self._sources[each], self._encodings.get(each, "")
            if "://" not in source:
                cells = self._cells.get(each) if is_open(source, self._base) else None
                self._files[each] = find_files(each, source, self._base, encoding, cells)
            elif encoding:
                raise CatalogError(
                    f"The encoding of table '{each}' is declared, which is for files on disk.",
                    hint="Store the texts as UTF-8 or as Parquet.",
                )

    def facts(self, name: str, listed: Listed) -> StoredFacts:
        """Return what tells one state of everything that is read for a table from the next."""
        return tuple(fact for each in self._read_for(name) for fact in self._facts(each, listed))

    def content(self, name: str, hashes: ContentHashes, listed: Listed) -> str:
        """Return the fingerprint of a table's rows: a hash of all files that are read for it, and of how.

        Of remote files, of their listing.
        """
        read = list(self._read_for(name))
        contents = [
            hashes.of(self._files[each])
            if each in self._files
            else hashlib.sha256("\n".join(listed(self._sources[each])).encode()).hexdigest()
            for each in read
        ]
        files = [self._files[each] for each in read if each in self._files]
        within = [(each.part, each.cells is not None) for each in files]
        path = self._paths.get(name)
        odd = path is not None or any(map(any, within))
        return combined([*contents, repr((within, path))] if odd else contents)

    def reading(self, name: str) -> str:
        """Return everything besides the content that the rows of a table depend on."""
        each_read = [
            (self._sources[each], self._encodings.get(each, ""), self._files[each].cells)
            if each in self._files
            else self._sources[each]
            for each in self._read_for(name)
        ]
        return repr((each_read, self._paths.get(name)))

    def attach(self, session: Any, name: str) -> None:
        """Make the rows of a table readable under its name, beside the people whom they reach."""
        rows, path = self._rows(session, name), self._paths.get(name)
        on_the_way = [] if path is None else [self._rows(session, s.table) for s in path.steps]
        with in_one_sentence(name):
            if path is not None:
                rows = beside_people(session, name, rows, path, on_the_way)
            show(rows, name)

    def _rows(self, session: Any, name: str) -> Any:
        with in_one_sentence(name):
            if name in self._files:
                return rows_of_files(session, name, self._files[name])
            return rows_of_place(session, name, self._sources[name])

    def _facts(self, name: str, listed: Listed) -> StoredFacts:
        if name not in self._files:
            return tuple(listed(self._sources[name]))
        try:
            return _facts_of(self._files[name].paths)
        except OSError:
            return ()

    def _read_for(self, name: str) -> tuple[str, ...]:
        """Return all tables whose rows are read for one, its own first."""
        steps = self._paths[name].steps if name in self._paths else ()
        for step in steps:
            if step.table not in self._sources:
                raise UnknownName(f"The engine has no table '{step.table}'.")
        return (name, *(step.table for step in steps))


def _facts_of(paths: Iterable[Path]) -> StoredFacts:
    """Return name, size, times and inode of files.

    Guarantee: equal facts before and after a reading mean that nothing was written between, on a
        file system whose clock ticks at least every 50 ms: a file that was written just now is
        waited for, because a second change within the same tick would carry the same time.
    """
    found = []
    for path in paths:
        stat = path.stat()
        age = time.time() - max(stat.st_mtime, stat.st_ctime)
        if 0 <= age < _TICK:
            time.sleep(_TICK)
            stat = path.stat()
        found.append(f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}")
    return tuple(found)
