"""What the words after `discreet init` mean: files, or tables of a database."""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.files import (
    PARQUET_FILES,
    READABLE,
    delimiter,
    files_in,
    files_like,
    split_part,
)
from discreet.engine.formats.convert import first_line, rows_of
from discreet.engine.formats.packed import start_of, unpacked
from discreet.engine.formats.text import detected_encoding
from discreet.errors import InvalidInput

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
