"""Overlap of sources: which files and tables a source reaches, and declarations that would count one loss in two places.

A source pattern reaches the files that it can match and those that it matches now. Declarations under which one
person's loss would be counted in two places, or in none, are refused.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar
from urllib.parse import unquote

from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.connect import kind_of
from discreet.data.engines.files import READABLE, files_like, split_part
from discreet.errors import CatalogError

_MAGIC = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[(!?)(\]?[^\]]*)\]|.", re.DOTALL)
_OWN = (".discreet", "duckdb")
"""Where copies of sources lie: whose rows they are, their names do not say."""
_DEFAULT_SCHEMAS = frozenset({"public", "main"})  # what a database adds to a bare table name
ANY, STAR, DEEP = frozenset({"any"}), frozenset({"star"}), "**"

T = TypeVar("T")
Letter: TypeAlias = frozenset[str]
"""The letters that may stand at one place of a name; ANY is every one, STAR any number of any."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that one source may read.

    `patterns` are paths in pieces, without regard to case: a file that is not there yet counts.
    `files` are device and inode of what is there now, so links and other spellings do not hide one.
    `table` is the name in a database, from its last part on; empty where the source is a file.
    """

    patterns: tuple[tuple[str, ...], ...]
    files: frozenset[tuple[int, int]]
    table: tuple[str, ...]
    exact: bool

    def meets(self, other: Reach) -> bool:
        """Return whether some row may be read by both.

        Guarantee: False only if no file that exists is read by both, under whatever name, and no
            path that both name, or may come to match, is the same without regard to case.
        """
        if self.files & other.files or (self.table and self.table == other.table):
            return True
        if self.exact and other.exact and self.files and other.files:
            return False  # two files that exist, and are two, even if only case tells them apart
        pairs = ((one, two) for one in self.patterns for two in other.patterns)
        return any(_meet(one, two, _is_deep, _same_piece) for one, two in pairs)


def reach_of(source: str, *, base: Path, engine_url: str) -> Reach:
    """Return what `source` may read with this engine."""
    table = () if _is_file(source, engine_url) else _table(source)
    source = _as_local(source)
    if "://" in source:
        own = _remote_pieces(source)
        return Reach((own, (*own, DEEP, "*")), frozenset(), table, exact=False)
    place, _ = split_part(source, base)  # all of a file counts, whichever part of it is read
    if any(pair == _OWN for pair in pairwise(place.resolve().parts)):
        raise CatalogError(
            "a source lies in the folder where copies of other sources are kept.",
            hint="Declare the file itself.",
        )
    if _MAGIC.search(source):
        return Reach((_pieces(place),), _identities(files_like(place)), table, exact=False)
    own = _pieces(place)
    if place.is_dir():
        return Reach((own, (*own, DEEP, "*")), _identities(_below(place)), table, exact=False)
    if place.is_file() or _named_as_file(source):
        return Reach((own,), _identities([place]), table, exact=True)
    # Not there yet: it may become a file or a folder.
    return Reach((own, (*own, DEEP, "*")), frozenset(), table, exact=True)


def files_of(source: str, *, base: Path, engine_url: str) -> frozenset[tuple[int, int]]:
    """Return device and inode of the files that `source` reads now, nothing for a database's table."""
    if "://" in source or not _is_file(source, engine_url):
        return frozenset()
    place, _ = split_part(source, base)
    if _MAGIC.search(source):
        return _identities(files_like(place))
    if place.is_dir():
        return _identities(_below(place))
    return _identities([place])


def file_of(url: str) -> str:
    """Return the file that an engine or a ledger keeps its tables in, if it is a file."""
    scheme, _, rest = url.partition(":")
    if scheme not in ("duckdb", "sqlite"):
        return ""
    return "/" + rest.lstrip("/") if rest.startswith("/") else rest


def _as_local(source: str) -> str:
    """Return the path that an address of this machine's files means."""
    if source.lower().startswith("file:"):
        return unquote(source[5:].removeprefix("//").removeprefix("localhost"))
    return source


def _remote_pieces(source: str) -> tuple[str, ...]:
    """Return the pieces of an address: one store has several schemes, and options name no rows."""
    scheme, _, rest = unquote(source).casefold().partition("://")
    path = rest.partition("?")[0] if rest.count("?") and "=" in rest.partition("?")[2] else rest
    store = {
        "s3a": "s3",
        "s3n": "s3",
        "gcs": "gs",
        "abfss": "abfs",
        "wasb": "abfs",
        "wasbs": "abfs",
    }
    pieces = posixpath.normpath(f"/{path}").split("/")
    return (store.get(scheme, scheme), *(piece for piece in pieces if piece))


def _below(folder: Path) -> list[Path]:
    # Not Path.is_file: what may not be looked at is refused where it is read, not here.
    return [path for path in folder.rglob("*") if os.path.isfile(path)]  # noqa: PTH113


def _named_as_file(source: str) -> bool:
    return Path(source.partition("#")[0]).suffix.lower() in READABLE


def _is_file(source: str, engine_url: str) -> bool:
    kind = kind_of(engine_url)
    # A database file may stand beside files; names are compared as paths in any case.
    named = _named_as_file(source) or "/" in source
    return kind.files and (not kind.database(engine_url) or named)


def _pieces(place: Path) -> tuple[str, ...]:
    """Return the path, its links resolved as far as no pattern begins."""
    parts = place.absolute().parts
    fixed = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    start = Path(*parts[:fixed]).resolve()
    return tuple(part.casefold() for part in (*start.parts, *parts[fixed:]))


def _identities(paths: Sequence[Path]) -> frozenset[tuple[int, int]]:
    found = set()
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue  # it is not there yet, or not for us: its name counts
        found.add((facts.st_dev, facts.st_ino))
    return frozenset(found)


def _table(source: str) -> tuple[str, ...]:
    """Return the table's name and its schema; an engine has one database, so that is left out."""
    parts = [part.strip().strip('"`').casefold() for part in source.split(".")]
    schemas = [part for part in parts[-2:-1] if part not in _DEFAULT_SCHEMAS]
    return (parts[-1], *schemas)


def _is_deep(piece: str) -> bool:
    return piece == DEEP


@cache
def _same_piece(one: str, two: str) -> bool:
    if not _MAGIC.search(one + two):
        return one == two
    return _meet(_letters(one), _letters(two), STAR.__eq__, _same_letter)


def _letters(piece: str) -> tuple[Letter, ...]:
    return tuple(_letter(found) for found in _CLASS.finditer(piece))


def _letter(found: re.Match[str]) -> Letter:
    text, inside = found.group(), found.group(2)
    if text == "*":
        return STAR
    if inside is None:
        return ANY if text == "?" else frozenset(text)
    if found.group(1):
        return ANY  # "not these" is taken for everything: rather refused than missed
    letters: set[str] = set()
    for start, end in re.findall(r"(.)-(.)", inside):
        letters.update(chr(code) for code in range(ord(start), ord(end) + 1))
    return frozenset(letters.union(re.sub(r".-.", "", inside)))


def _same_letter(one: Letter, two: Letter) -> bool:
    return ANY in (one, two) or bool(one & two)


def _meet(  # one walk for paths of pieces and for pieces of letters
    one: Sequence[T],
    two: Sequence[T],
    many: Callable[[T], bool],
    same: Callable[[T, T], bool],
) -> bool:
    """Return whether some sequence matches both, where `many` stands for any number of anything."""
    reached = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        at = pending.pop()
        if at == (len(one), len(two)):
            return True
        for step in _steps(one, two, at, many, same):
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return False


def _steps(
    one: Sequence[T],
    two: Sequence[T],
    at: tuple[int, int],
    many: Callable[[T], bool],
    same: Callable[[T, T], bool],
) -> Iterator[tuple[int, int]]:
    i, j = at
    left, right = i < len(one), j < len(two)
    if left and many(one[i]):
        yield i + 1, j
        if right:
            yield i, j + 1
    elif right and many(two[j]):
        yield i, j + 1
        if left:
            yield i + 1, j
    elif left and right and same(one[i], two[j]):
        yield i + 1, j + 1


def check_budgets(datasets: Mapping[str, Dataset]) -> None:
    """Refuse mixed units under one budget.

    Guarantee: all private tables that one budget pays for have rows as units, or all have people,
        so that the sum of each dataset's worst bill bounds what one of these units can lose.
    """
    kinds: dict[str, tuple[bool, str]] = {}
    for dataset in datasets.values():
        for table in dataset.tables:
            if table.unit is None:
                continue
            place = f"table '{table.name}' of dataset '{dataset.name}'"
            is_row, other = kinds.setdefault(dataset.budget, (table.unit.is_row, place))
            if is_row != table.unit.is_row:
                row, person = (other, place) if is_row else (place, other)
                raise CatalogError(
                    f"{row} protects rows and {person} protects people, but the budget "
                    f"'{dataset.budget}' pays for both.",
                    hint="Give both the same kind of unit, or separate budgets.",
                )


def check_sources_apart(datasets: Mapping[str, Dataset], *, base: Path, engine_url: str) -> None:
    """Refuse sources that share rows where their people would then pay too little, or nothing.

    Guarantee: no row is billed to two budgets; in a dataset of row units no row is in two tables,
        which would be billed as if they were different people; and no private row is in a public
        table. A row is known by its file or table, under whatever name, link or pattern (`Reach`);
        copies of a file, and views of a table, are the owner's to declare.
    """
    tables = [
        (dataset, table, reach_of(table.source, base=base, engine_url=engine_url))
        for dataset in datasets.values()
        for table in dataset.tables
    ]
    for (first, one, here), (second, two, there) in combinations(tables, 2):
        if (one.unit is not None or two.unit is not None) and here.meets(there):
            _require_allowed(first, one, second, two)


def check_still_apart(catalog: Catalog, read: Iterable[tuple[Dataset, Table]]) -> None:
    """Refuse tables whose files have become another table's since the catalog was read.

    A link, or a file that was moved, may bring two sources together at any time. Patterns do not
    change, so files alone are compared, and only with those that a question reads. Whoever asks may
    not know of the other table, so it is not named.
    """
    every = [
        (dataset, table, files_of(table.source, base=catalog.base, engine_url=catalog.engine_url))
        for dataset in (catalog.every or catalog.datasets).values()
        for table in dataset.tables
    ]
    places = {(dataset.name, table.name): files for dataset, table, files in every}
    for first, one in read:
        here = places.get((first.name, one.name), frozenset())
        for second, two, there in every:
            itself = (first.name, one.name) == (second.name, two.name)
            private = one.unit is not None or two.unit is not None
            if not itself and private and here & there:
                try:
                    _require_allowed(first, one, second, two)
                except CatalogError:
                    raise _has_met(one) from None


def check_ledger_apart(
    datasets: Mapping[str, Dataset], *, base: Path, engine_url: str, ledger_url: str
) -> None:
    """Refuse a source that takes in the ledger's own file.

    Reading it by hand would drop the lock of whoever is charging (note 0031).
    """
    place = file_of(ledger_url)
    if not place:
        return
    ledger = reach_of(place, base=base, engine_url="duckdb:")
    sources = [table.source for dataset in datasets.values() for table in dataset.tables]
    if database := kind_of(engine_url).database(engine_url):
        sources.append(database)
    for source in sources:
        if reach_of(source, base=base, engine_url="duckdb:").meets(ledger):
            raise CatalogError(
                f"the source '{source}' takes in the ledger's own file, '{place}'.",
                hint="Put the data into a folder of its own, or name the files more narrowly.",
            )


def _require_allowed(first: Dataset, one: Table, second: Dataset, two: Table) -> None:
    if one.unit is None or two.unit is None:
        private, public = (two, one) if one.unit is None else (one, two)
        raise CatalogError(
            f"the source '{private.source}' of the private table '{private.name}' is also in the "
            f"public table '{public.name}'.",
            hint="Whatever is public is answered without noise: keep one of the tables.",
        )
    if first.public_rows is not second.public_rows:
        declared, other = (first, second) if first.public_rows else (second, first)
        raise CatalogError(
            f"the source '{one.source}' is in dataset '{other.name}', whose rows are private, and in "
            f"'{declared.name}', which declares public_rows{_as(one, two)}.",
            hint="Rows are public everywhere or nowhere.",
        )
    if first.budget != second.budget:
        raise CatalogError(
            f"the source '{one.source}' is in two datasets, '{first.name}' and "
            f"'{second.name}', with separate budgets{_as(one, two)}.",
            hint="Remove one, or let both name one shared budget.",
        )
    if first.name == second.name and one.unit.is_row:
        raise CatalogError(
            f"the source '{one.source}' is declared as two tables, '{one.name}' and "
            f"'{two.name}', of dataset '{first.name}', whose units are rows{_as(one, two)}.",
            hint="Keep one of the tables.",
        )


def _has_met(table: Table) -> CatalogError:
    return CatalogError(
        f"the source of table '{table.name}' has become that of another table as well, since "
        "discreet.toml was read; nothing was charged.",
        hint="Ask the data owner to look for links between the files of the sources.",
    )


def _as(one: Table, two: Table) -> str:
    return "" if one.source == two.source else f" (there as '{two.source}')"
