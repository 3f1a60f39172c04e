"""Sources of a dataset: what the words after `discreet init` mean, and whether a source has the columns that are declared.

Reads the names and types that a source states about itself, and of a file the heading, before anything is asked.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.schema import (
    BooleanDomain,
    Dataset,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
    TimestampDomain,
)
from discreet.data.catalog.catalog import Catalog, engine_name
from discreet.data.engines.base import Engine
from discreet.data.engines.column_types import ColumnKind, readable
from discreet.data.engines.files import (
    PARQUET_FILES,
    READABLE,
    delimiter,
    files_in,
    files_like,
    split_part,
)
from discreet.data.engines.formats import detected_encoding, first_line, rows_of, start_of, unpacked
from discreet.errors import CatalogError, InvalidInput

_HEADER_LINE = 1 << 20
_NUMBER = re.compile(r"\s*[-+]?[0-9][0-9.,/:-]*\s*")
_YEAR = re.compile(r"\s*(19|20)[0-9]{2}\s*")  # wide tables have one column a year


@dataclass(frozen=True, slots=True)
class Sources:
    """An engine, and the source of each table by its name.

    `encodings` are those of text files that are not UTF-8 as far as can be told, `notes` what their
    owner should check, `widths` how many columns files have.
    """

    engine_url: str
    tables: dict[str, str]
    encodings: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)


def find_sources(words: Sequence[str], *, base: Path) -> Sources:
    """Return the tables that `words` name, relative to `base`, checked as far as their headings go."""
    if not words:
        raise InvalidInput("Name at least one file or table.")
    urls = [word for word in words if re.match(r"(postgres(ql)?://|duckdb:)", word)]
    if not urls:
        return _files(words, base)
    if len(urls) < len(words):
        raise InvalidInput("One discreet.toml has one engine: name files, or tables of a database.")
    found = [_database(word, base) for word in urls]
    engines = {engine for engine, _ in found}
    if len(engines) > 1:
        raise InvalidInput("One discreet.toml has one engine: these are several databases.")
    tables: dict[str, str] = {}
    for _, table in found:
        tables[_new_name(table.rpartition(".")[2], tables)] = table
    return Sources(found[0][0], tables)


def _files(words: Sequence[str], base: Path) -> Sources:
    found = Sources("duckdb:", {})
    for word in words:
        path, part = split_part(word, Path())
        paths = _meant(word, path)
        told = [check_file(each, part) for each in paths]
        place = path.resolve() if path.exists() else path.parent.resolve() / path.name
        relative = os.path.relpath(place, base.resolve())
        name = _new_name(part or path.name.replace("*", "").split(".")[0], found.tables)
        found.tables[name] = Path(relative).as_posix() + (f"#{part}" if part else "")
        encoding = next((encoding for encoding, _ in told if encoding), "")
        found.widths[name] = _width(paths[0], encoding, part)
        if encoding:
            shown = ", ".join(dict.fromkeys(word for _, words in told for word in words))
            found.encodings[name] = encoding
            found.notes[name] = (
                f"The text is not UTF-8; it is read as {encoding}. "
                f"Check these words{': ' + shown if shown else ''}."
            )
    return found


def _meant(word: str, path: Path) -> list[Path]:
    """Return the files that a word means: one, those of a folder, or those of a pattern."""
    if any(letter in word for letter in "*?[") and not path.exists():
        found = files_like(path)
        if not found:
            raise InvalidInput(f"No file is called '{word}'.")
        return found
    if path.is_dir():
        found = files_in(path)
        if not found:
            raise InvalidInput(f"The folder '{path.name}' holds no file that can be read.")
        return found
    return [path]


def _database(word: str, base: Path) -> tuple[str, str]:
    """Return the engine's URL and the table in it."""
    if word.startswith("duckdb:"):
        file, slash, table = word.removeprefix("duckdb:").rpartition("/")
        if not slash or not file.endswith((".duckdb", ".db", ".ddb")) or not table:
            raise InvalidInput(f"Say which table: duckdb:FILE.duckdb/TABLE, not '{word}'.")
        relative = os.path.relpath(Path(file).resolve(), base.resolve())
        return f"duckdb:{Path(relative).as_posix()}", table
    refuse_password(word)
    parts = urlsplit(word)
    database, slash, table = parts.path.strip("/").partition("/")
    if not slash or not table:
        raise InvalidInput("Say which table: postgresql://HOST/DATABASE/SCHEMA.TABLE.")
    return urlunsplit(parts._replace(path=f"/{database}")), table


def refuse_password(url: str) -> None:
    """Refuse an address with a password in it: it would lie in a file, a history, a process list."""
    if not url.startswith(("postgres:", "postgresql:")):
        return
    parts = urlsplit(url)
    if parts.password or any(key == "password" for key, _ in parse_qsl(parts.query)):
        raise InvalidInput(
            "The address of the PostgreSQL server holds a password in clear.",
            hint="Leave it out, and put it into PGPASSWORD, ~/.pgpass or a service file.",
        )


def check_file(path: Path, part: str = "") -> tuple[str, tuple[str, ...]]:
    """Refuse a file that is no table, with one sentence that shows nothing of its content.

    Return the encoding that its owner should confirm, with words to tell it by; nothing for UTF-8.
    """
    shown = path.name
    if path.is_dir():
        raise InvalidInput(f"'{shown}' is a folder; name the files in it.")
    if not path.exists():
        raise InvalidInput(f"There is no file '{path}'.")
    if not path.is_file():
        raise InvalidInput(f"'{shown}' is a pipe or a device, not a file.")
    kind = path.suffix.lower()
    if kind not in READABLE:
        raise InvalidInput(
            f"The name of '{shown}' does not say how to read it.",
            hint="Name it .csv, .tsv, .jsonl, .xlsx, .sqlite or .parquet; text may be packed as "
            ".gz, .zst or .zip.",
        )
    try:
        start = start_of(path)
    except OSError:
        raise InvalidInput(f"The file '{shown}' cannot be read.") from None
    if not start:
        raise InvalidInput(f"The file '{shown}' is empty.")
    if (start == b"PAR1") != (kind in PARQUET_FILES):
        raise InvalidInput(f"The content of '{shown}' is not what its ending '{kind}' says.")
    if kind in PARQUET_FILES:
        return "", ()
    encoding, words = ("", ()) if rows_of(path) is not None else detected_encoding(path)
    _check_heading(path, encoding, part)
    return encoding, words


def _width(path: Path, encoding: str, part: str) -> int:
    """Return how many columns a file has: an engine takes minutes to find out that there are too many."""
    if path.suffix.lower() in PARQUET_FILES:
        try:
            return len(pq.read_schema(path))
        except (OSError, pa.ArrowException):
            return 0  # the engine refuses a broken file in words
    return len(_heading(path, encoding, part))


def _heading(path: Path, encoding: str, part: str) -> list[str]:
    line = first_line(path, encoding=encoding, part=part)
    if "\0" in line:
        raise InvalidInput(f"'{path.name}' is not a text file.")
    return next(csv.reader([line], delimiter=delimiter(path, encoding, part)), [])


def _check_heading(path: Path, encoding: str, part: str) -> None:
    cells = _heading(path, encoding, part)
    if not any(cell.strip() for cell in cells):
        raise InvalidInput(f"The first line of '{path.name}' must hold the column names.")
    for i, cell in enumerate(cells, start=1):  # never show a cell: without a heading it is a row
        if not cell.strip():
            raise InvalidInput(f"Column {i} of '{path.name}' has no name in the first line.")
        if _NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell):
            raise InvalidInput(
                f"The first line of '{path.name}' seems to hold values, not column names: "
                f"column {i} is a number.",
                hint="Add a first line with the names.",
            )
    _check_twins(path.name, cells)
    if rows_of(path) is None and not _has_more(path):
        raise InvalidInput(f"'{path.name}' has column names but no rows.")


def _has_more(path: Path) -> bool:
    with unpacked(path) as file:
        head = file.read(_HEADER_LINE)
    marks = [head.find(mark) for mark in (b"\n", b"\r")]
    ends = [mark for mark in marks if mark >= 0]
    return bool(ends) and bool(head[min(ends) :].strip(b"\r\n\0"))


def _check_twins(file: str, cells: Iterable[str]) -> None:
    seen: dict[str, int] = {}
    for i, cell in enumerate(cells, start=1):
        first = seen.setdefault(cell.lower(), i)
        if first != i:
            raise InvalidInput(
                f"Columns {first} and {i} of '{file}' have the same name, or differ only in case.",
                hint="Rename one in the first line.",
            )


def _new_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a name that needs no quotes in SQL and is not taken yet."""
    word = re.sub(r"[^0-9a-z]+", "_", wanted.lower()).strip("_") or "table"
    return numbered(f"t_{word}" if word[0].isdigit() else word, taken)


def numbered(word: str, taken: Iterable[str]) -> str:
    """Return a word, or it with a number, that nothing is called yet; case does not count."""
    used = {name.lower() for name in taken}
    more = (f"{word}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([word], more) if name.lower() not in used)


_KINDS: dict[type[Domain], ColumnKind] = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
    TimestampDomain: ColumnKind.DATE,
}


def check_table(dataset: Dataset, table: Table, engine: Engine) -> None:
    """Refuse a declared column that the table's source does not have.

    Guarantee: depends on the names of the source's columns only. Without it a misspelt column reads
        as NULL in every row, and is found by whoever has paid for that. A hidden column may be
        absent, but not be spelled differently: what is hidden by a wrong name is shown.
    """
    found = engine.names(engine_name(dataset, table))
    for name in _wanted(table, found):
        if name in found:
            continue
        close = difflib.get_close_matches(name, found, n=1)
        guess = (_same(name, found) or close or [""])[0]
        raise CatalogError(
            f"{_place(dataset, table)}: the source has no column '{name}'.",
            # Not the others: in a file without its first line they are somebody's cells.
            hint=f"Did you mean '{guess}'?" if guess else "Compare discreet.toml with its columns.",
        )


def type_warnings(catalog: Catalog, engine: Engine) -> tuple[str, ...]:
    """Return a sentence for each column whose source can hold no value of the declared type, or lacks it.

    For the owner only: the columns of several files follow from the files, and the type of a text
    file's column may follow its rows.
    """
    return tuple(
        sentence
        for dataset in catalog.datasets.values()
        for table in dataset.tables
        for sentence in _table_warnings(dataset, table, engine)
    )


def _table_warnings(dataset: Dataset, table: Table, engine: Engine) -> Iterator[str]:
    place, missing = _place(dataset, table), "so every row counts as missing."
    try:
        found = engine.columns(engine_name(dataset, table))
    except (
        CatalogError
    ) as error:  # a question reads it as declared, or is refused with the same words
        yield f"{place}: {error.message}"
        return
    names = {name.lower() for name, _ in found}
    for column in table.columns:
        if not column.hidden and column.name.lower() not in names:
            yield f"{place}: the source has no column '{column.name}' now, {missing}"
    for name, kind in found:
        wanted = _declared(table, name)
        if wanted is not None and not readable(wanted, kind):
            yield (
                f"{place}: the source keeps '{name}' as {kind}, which never holds "
                f"{_one(wanted)}, {missing}"
            )


def _wanted(table: Table, found: list[str]) -> list[str]:
    wanted = [c.name for c in table.columns if not c.hidden or _same(c.name, found)]
    if table.unit is not None and table.unit.column is not None:
        wanted.append(table.unit.column)
    return wanted


def _same(name: str, found: list[str]) -> list[str]:
    return [other for other in found if other.lower() == name.lower()]


def _declared(table: Table, name: str) -> ColumnKind | None:
    column = next((c for c in table.columns if c.name == name and not c.hidden), None)
    return None if column is None else _KINDS.get(type(column.domain))


def _one(kind: ColumnKind) -> str:
    return f"an {kind.value}" if kind is ColumnKind.INTEGER else f"a {kind.value}"


def _place(dataset: Dataset, table: Table) -> str:
    return f"table '{table.name}' of dataset '{dataset.name}'"
