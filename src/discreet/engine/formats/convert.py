"""Files of every readable format as plain CSV: UTF-8, one line a row, column names in the first.

A function of the file's bytes, of the declared encoding and of the named part alone.
"""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import io
import itertools
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from discreet.engine.dialect.names import quoted
from discreet.engine.formats.packed import (
    BROKEN,
    GZIP,
    ZIP,
    ZSTD,
    HeadAndRest,
    broken,
    is_workbook,
    start_of,
    unpacked,
)
from discreet.engine.formats.text import codec_of
from discreet.errors import CatalogError, DiscreetError, InvalidInput, MissingExtra

SQLITE = b"SQLite format 3\0"
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_HEAD = 1 << 20
_LONGEST_NAME = 200
_SEPARATORS = ";|\t"
_LONE_CR = re.compile(r"\r(?!\n)")
Rows = Iterator[list[Any]]
"""The names of the columns first, then the rows."""


def is_plain(path: Path, encoding: str = "") -> bool:
    """Return whether the engine reads a file as it is: CSV in UTF-8 with line feeds, or Parquet."""
    start = start_of(path)
    if start == b"PAR1":
        return True
    # Also what DuckDB could unpack: it takes the first part of a cut file for all of it.
    if start in (ZIP, ZSTD) or start[:2] == GZIP:
        return False
    return text_codec(path, encoding) in ("utf-8", "utf-8-sig")


def text_codec(path: Path, encoding: str = "") -> str | None:
    """Return Python's codec for a file of delimited text with line feeds, None for other files."""
    if rows_of(path) is not None:
        return None
    with unpacked(path) as file:
        head = file.read(_HEAD)
    codec = codec_of(head, encoding)
    return None if _ends_in_cr(_decoded(head, codec)) else codec


def _decoded(head: bytes, codec: str) -> str:
    return codecs.getincrementaldecoder(codec)(errors="replace").decode(head)


def _ends_in_cr(head: str) -> bool:
    """Return whether the first line, which holds the column names, ends in a carriage return alone."""
    end = head.find("\r")
    return end >= 0 and head[end : end + 2] != "\r\n" and "\n" not in head[:end]


def write_plain(path: Path, target: Path, *, encoding: str = "", part: str = "") -> None:
    """Write the table in `path` to `target` as plain CSV."""
    reader = rows_of(path)
    with _in_one_sentence(path), target.open("w", encoding="utf-8", newline="") as out:
        if reader is None:
            _copy_text(path, out, encoding)
        else:
            _write_rows(reader(path, part), out)


@contextmanager
def _in_one_sentence(path: Path) -> Iterator[None]:
    """Say what is wrong with a file in our own words: those of its readers may hold cells."""
    try:
        yield
    except BROKEN:
        raise broken(path) from None
    except (UnicodeError, sqlite3.Error, ValueError, RecursionError):
        raise InvalidInput(
            f"'{path.name}' is not what it seems to be, or is damaged.",
            hint="Text that is not UTF-8 needs its encoding declared.",
        ) from None


def first_line(path: Path, *, encoding: str = "", part: str = "") -> str:
    """Return the names of the columns as the first line of the plain CSV."""
    reader = rows_of(path)
    if reader is not None:
        out = io.StringIO()
        with _in_one_sentence(path):
            _write_rows(iter([next(reader(path, part), [])]), out)
        return out.getvalue().rstrip("\n")
    with unpacked(path) as file:
        head = file.read(_HEAD)
    text = _decoded(head, codec_of(head, encoding))
    return text.split("\r" if _ends_in_cr(text) else "\n", 1)[0].rstrip("\r")


def has_json_ending(path: Path) -> bool:
    """Return whether a file is read as JSON, which its name alone says."""
    return any(suffix.lower() in JSON_ENDINGS for suffix in path.suffixes)


def rows_of(path: Path) -> Callable[[Path, str], Rows] | None:
    """Return what reads a file that is no delimited text, None for text."""
    if start_of(path, 16) == SQLITE:
        return _sqlite_rows
    if is_workbook(path):
        return _workbook_rows
    if has_json_ending(path):
        return _json_rows
    return None


def _copy_text(path: Path, out: IO[str], encoding: str) -> None:
    with unpacked(path) as file:
        head = file.read(_HEAD)
        codec = codec_of(head, encoding)
        # Universal line ends only where the heading has them: a bare CR may stand in a cell.
        newline = "\r" if _ends_in_cr(_decoded(head, codec)) else ""
        text = _text_of(head, file, codec, newline)
        while block := text.read(_HEAD):
            out.write(block.replace("\r", "\n") if newline else block)


def _text_of(head: bytes, rest: IO[bytes], codec: str, newline: str | None) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(HeadAndRest(head, rest)), codec, newline=newline)


def _write_rows(rows: Rows, out: IO[str]) -> None:
    names = [_text(name) for name in next(rows, [])]
    # In quotes where they hold what separates elsewhere: ours is then found whatever they are called.
    odd = any(mark in name for name in names for mark in _SEPARATORS)
    csv.writer(
        out, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
    ).writerow(names)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_text(cell) for cell in row] for row in rows)


def _text(cell: Any) -> str:
    match cell:
        case None | bytes():
            return ""
        case bool():
            return "true" if cell else "false"
        case dt.datetime():
            midnight = cell.time() == dt.time()
            return str(cell.date()) if midnight else cell.isoformat(sep=" ", timespec="seconds")
        case dict() | list():
            return _safe(json.dumps(cell, ensure_ascii=False))
        case _:
            return _safe(str(cell))


def _safe(text: str) -> str:
    """Return a text that any cell of a CSV file may hold: no single row makes a file unreadable."""
    if text.isascii() and "\r" not in text:
        return text
    whole = text.encode("utf-8", "replace").decode()  # half a letter, which JSON can write
    return _LONE_CR.sub("\n", whole)


def _json_rows(path: Path, _part: str) -> Rows:
    """Yield the objects of JSON lines, or of one list; the names are those that occur in any of them.

    Whatever keys an object has, the others are read as without it: keys that differ only in case are
    one column, and a key that cannot name a column is left out.
    """
    names: dict[str, str] = {}
    for found in _objects(path):
        for key in found:
            if 0 < len(key) <= _LONGEST_NAME and key.isprintable():
                names.setdefault(key.lower(), key)
    yield list(names.values())
    for found in _objects(path):
        cells = {key.lower(): cell for key, cell in reversed(found.items())}
        yield [cells.get(name) for name in names]


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    with unpacked(path) as file:
        start = file.read(4096)
        text = _text_of(start, file, codec_of(start), None)
        if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            found: Iterable[Any] = _parsed(text.read())
        else:
            found = (_parsed(line) for line in text if line.strip())
        for each in found:
            if not isinstance(each, dict):
                raise InvalidInput(f"'{path.name}' holds something else than one object a line.")
            yield each


def _parsed(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=str)  # numbers as they are written


def _sqlite_rows(path: Path, part: str) -> Rows:
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        table = _chosen(path, [name for (name,) in listed], part, "table")
        rows = database.execute(f"SELECT * FROM {quoted(table)}")
        yield [column[0] for column in rows.description]
        yield from (list(row) for row in rows)


def _workbook_rows(path: Path, part: str) -> Rows:
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        raise MissingExtra("openpyxl", extra="xlsx") from None
    try:
        # Opened here: openpyxl leaves the file open where it fails.
        with (
            path.open("rb") as file,
            closing(load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            sheet = book[_chosen(path, list(book.sheetnames), part, "sheet")]
            rows = (list(row) for row in sheet.iter_rows(values_only=True))
            names = list(itertools.takewhile(lambda cell: cell is not None, next(rows, [])))
            yield names
            for row in rows:
                if any(cell is not None for cell in row):
                    yield (row + [None] * len(names))[: len(names)]
    except (DiscreetError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # its readers raise whatever a damaged part leads them to
        raise InvalidInput(
            f"The workbook '{path.name}' is damaged.",
            hint="Open it in a spreadsheet program and save it again, or export the sheet as CSV.",
        ) from None


def _chosen(path: Path, names: list[str], part: str, what: str) -> str:
    if part:
        for name in names:
            if name.lower() == part.lower():
                return name
        raise CatalogError(f"'{path.name}' has no {what} '{part}'.")
    if len(names) == 1 or (names and what == "sheet"):
        return names[0]
    raise CatalogError(
        f"'{path.name}' has {len(names)} {what}s: say which.",
        hint=f"Write {path.name}#NAME; there are: {', '.join(names[:20])}.",
    )
