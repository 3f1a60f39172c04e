"""Where the rows of Spark's tables are at this moment, and over which others they reach people."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.core.path import FollowedPath
from discreet.engine.copies import combined
from discreet.engine.declared import DeclaredCell
from discreet.engine.files import ContentHashes, FileSource, find_files, is_open
from discreet.engine.spark.sources import (
    beside_people,
    in_one_sentence,
    rows_of_files,
    rows_of_place,
    show,
)
from discreet.errors import CatalogError, UnknownName

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
