"""What the words after `discreet init` mean: files, or tables of a database."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from discreet.engine.files import delimiter
from discreet.errors import InvalidInput

TEXT_FILES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
PARQUET_FILES = (".parquet", ".pq")
_BLOCK = 1 << 20
_CHECKED_BLOCKS = 64
_HEADER_LINE = 1 << 20
_NUMBER = re.compile(r"\s*[-+]?[0-9][0-9.,/:-]*\s*")
_YEAR = re.compile(r"\s*(19|20)[0-9]{2}\s*")  # wide tables have one column a year


@dataclass(frozen=True, slots=True)
class Sources:
    """An engine, and the source of each table by its name; paths are relative to `base`."""

    engine_url: str
    tables: dict[str, str]
    base: Path


def find_sources(words: Sequence[str], *, base: Path) -> Sources:
    """Return the tables that `words` name, checked as far as their headings go."""
    if not words:
        raise InvalidInput("Name at least one file or table.")
    urls = [word for word in words if re.match(r"(postgres(ql)?://|duckdb:)", word)]
    if not urls:
        return Sources("duckdb:", _files(words, base), base)
    if len(urls) < len(words):
        raise InvalidInput("One discreet.toml has one engine: name files, or tables of a database.")
    found = [_database(word, base) for word in urls]
    engines = {engine for engine, _ in found}
    if len(engines) > 1:
        raise InvalidInput("One discreet.toml has one engine: these are several databases.")
    tables: dict[str, str] = {}
    for _, table in found:
        tables[_new_name(table.rpartition(".")[2], tables)] = table
    return Sources(found[0][0], tables, base)


def _files(words: Sequence[str], base: Path) -> dict[str, str]:
    tables: dict[str, str] = {}
    for word in words:
        path = Path(word)
        check_file(path)
        relative = os.path.relpath(path.resolve(), base.resolve())
        tables[_new_name(path.name.split(".")[0], tables)] = Path(relative).as_posix()
    return tables


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


def check_file(path: Path) -> None:
    """Refuse a file that is no table, with one sentence that shows nothing of its content."""
    shown = path.name
    if path.is_dir():
        raise InvalidInput(f"'{shown}' is a folder; name the files in it.")
    if not path.exists():
        raise InvalidInput(f"There is no file '{path}'.")
    kind = path.suffix.lower()
    if kind not in TEXT_FILES + PARQUET_FILES:
        raise InvalidInput(
            f"'{shown}' is neither CSV nor Parquet as far as its name says.",
            hint="Export it as .csv (with column names in the first line) or .parquet.",
        )
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        raise InvalidInput(f"The file '{shown}' cannot be read.") from None
    if not start:
        raise InvalidInput(f"The file '{shown}' is empty.")
    if (start == b"PAR1") != (kind in PARQUET_FILES):
        raise InvalidInput(f"The content of '{shown}' is not what its ending '{kind}' says.")
    if kind in TEXT_FILES:
        _check_text(path)
        _check_heading(path)


def _check_text(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        for _ in range(_CHECKED_BLOCKS):
            block = file.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                raise InvalidInput(
                    f"'{path.name}' is not UTF-8 text.", hint="Convert it: iconv -t UTF-8 FILE."
                ) from None
            if "\0" in text:
                raise InvalidInput(f"'{path.name}' is not a text file.")
            if not block:
                return


def _check_heading(path: Path) -> None:
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        line = file.readline(_HEADER_LINE)
        more = file.read(1)
    cells = next(csv.reader([line], delimiter=delimiter(path)), [])
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
    if not more:
        raise InvalidInput(f"'{path.name}' has column names but no rows.")


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
    word = f"t_{word}" if word[0].isdigit() else word
    name, number = word, 1
    while name in taken:
        number += 1
        name = f"{word}_{number}"
    return name
