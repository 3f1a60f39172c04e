"""Files in other formats than plain CSV and Parquet: recognised, unpacked, decoded, rewritten as plain CSV.

Plain CSV is UTF-8, one line a row, column names in the first. What is written is a function of the file's bytes, of
the declared encoding and of the named part alone: what a file's rows say never decides how it is read.
"""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import io
import itertools
import json
import lzma
import re
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from discreet.base.files import open_regular
from discreet.data.engines.dialects import quoted
from discreet.errors import CatalogError, DiscreetError, InvalidInput, MissingExtra

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\3\4"
_WORKBOOK = "xl/workbook.xml"
BROKEN = (
    *(gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, OSError),
    *(zipfile.BadZipFile, NotImplementedError, pa.ArrowException),
)
"""What the readers raise when a file is not what its first bytes say."""


def start_of(path: Path, size: int = 4) -> bytes:
    """Return the first bytes of a file as it lies on disk."""
    with open_regular(path) as file:
        return file.read(size)


def is_workbook(path: Path) -> bool:
    """Return whether a file is a spreadsheet (.xlsx): a zip archive with a workbook in it."""
    if start_of(path) != ZIP:
        return False
    with _damage_in_words(path), zipfile.ZipFile(path) as archive:
        return _WORKBOOK in archive.namelist()


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open the bytes inside a file, packed or not."""
    start = start_of(path)
    try:
        if start.startswith(GZIP):
            with gzip.open(path) as packed:
                yield packed  # type: ignore[misc]  # it reads as any binary file
        elif start == ZSTD:
            with pa.input_stream(str(path), compression="zstd") as stream:
                yield io.BufferedReader(HeadAndRest(b"", stream), 1 << 20)
        elif start == ZIP:
            with _archive(path) as archive, _inside(archive, path) as inside:
                yield io.BufferedReader(_Member(inside, path), 1 << 20)
        else:
            with path.open("rb") as inside:
                yield inside
    except BROKEN:
        raise broken(path) from None


def broken(path: Path) -> InvalidInput:
    """Return the refusal of a packed file that does not unpack."""
    return InvalidInput(
        f"'{path.name}' begins like a packed file, but cannot be unpacked.",
        hint="Export it again, as plain CSV or packed as a whole.",
    )


@contextmanager
def _damage_in_words(path: Path) -> Iterator[None]:
    """Refuse a damaged archive: `zipfile` raises whatever a wrong byte leads it to."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # no list of them is whole
        raise broken(path) from None


def _archive(path: Path) -> zipfile.ZipFile:
    with _damage_in_words(path):
        return zipfile.ZipFile(path)


def _inside(archive: zipfile.ZipFile, path: Path) -> IO[bytes]:
    with _damage_in_words(path):
        return archive.open(_member(archive, path))


class _Member(io.RawIOBase):
    """What a zip archive holds; damage that is met on the way is refused in words."""

    def __init__(self, inside: IO[bytes], path: Path) -> None:
        self._inside, self._path = inside, path

    def readable(self) -> bool:
        """Return that it may be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Return how many bytes were put into `buffer`."""
        with _damage_in_words(self._path):
            data = self._inside.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith(("__MACOSX/", "."))
    ]
    if len(names) != 1:
        raise InvalidInput(
            f"'{path.name}' holds {len(names)} files; one archive holds one table.",
            hint="Unpack it, and name the folder with the files.",
        )
    return names[0]


class HeadAndRest(io.RawIOBase):
    """Bytes that were read already, then the rest of their file, or of a stream of pyarrow."""

    def __init__(self, head: bytes, rest: IO[bytes] | pa.NativeFile) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Return that it may be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Return how many bytes were put into `buffer`."""
        data = self._head[: len(buffer)] if self._head else self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KNOWN = {
    "utf-8": "utf-8",
    "utf-16": "utf-16-le",  # without a mark, on whatever machine
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
}
"""Encodings that may be declared, and Python's names for them."""
_LATIN = "windows-1252"
_BLOCK = 1 << 20
CHECKED_BLOCKS = 64
_SHOWN = 5


def checked_encoding(name: str) -> str:
    """Return the name of an encoding in small letters, or refuse it."""
    if name.lower() not in KNOWN:
        raise CatalogError(f"encoding is one of: {', '.join(KNOWN)}; not '{name}'.")
    return name.lower()


def codec_of(start: bytes, declared: str = "") -> str:
    """Return Python's codec for a text that begins with these bytes.

    Guarantee: depends on the mark at the very beginning, before any row, and on what is declared.
    """
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return codec
    return KNOWN[declared] if declared else "utf-8"


def detected_encoding(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the encoding that an owner should confirm, with words by which it can be told.

    Nothing where the text is UTF-8 or says by a mark what it is. For proposals only: it reads rows.
    Refuses what is no text, and UTF-8 that is damaged: in another encoding all of it would be wrong.
    """
    with unpacked(path) as file:
        head = file.read(_BLOCK)
        if codec_of(head) != "utf-8":
            return "", ()
        wide = _two_bytes_a_letter(head)
        if wide:
            return wide, ()
        decoder = codecs.getincrementaldecoder("utf-8")()
        block, plain = head, True
        for _ in range(CHECKED_BLOCKS):
            if b"\0" in block:
                raise _no_text(path, "holds NUL bytes, so it is not UTF-8 text")
            try:
                plain = decoder.decode(block, final=not block).isascii() and plain
            except UnicodeDecodeError as error:
                if not block or not plain or _damaged(error):
                    raise _no_text(path, "is not whole UTF-8 text") from None
                return _LATIN, odd_words(block)
            if not block:
                break
            block = file.read(_BLOCK)
    return "", ()


def _two_bytes_a_letter(head: bytes) -> str:
    """Return which UTF-16 a text without a mark is in: nearly every second byte is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    many = 0.3 * len(head) / 2
    if odd > many and even < 0.01 * odd:
        return "utf-16-le"
    return "utf-16-be" if even > many and odd < 0.01 * even else ""


def _damaged(error: UnicodeDecodeError) -> bool:
    """Return whether the bytes are half a pair of UTF-16 inside UTF-8, or come after good letters."""
    before = error.object[: error.start]
    bad = error.object[error.start : error.start + 2]
    return not before.isascii() or (bad[:1] == b"\xed" and bad[1:] >= b"\xa0")


def _no_text(path: Path, words: str) -> InvalidInput:
    return InvalidInput(
        f"'{path.name}' {words}.", hint="Export it again as CSV in UTF-8, or as Parquet."
    )


def odd_words(block: bytes) -> tuple[str, ...]:
    """Return a few words with letters beyond ASCII, as the encoding reads them."""
    text = block.decode(KNOWN[_LATIN], errors="replace").replace('"', " ")
    for mark in ",;\t|\r\n":
        text = text.replace(mark, " ")
    found = dict.fromkeys(word for word in text.split() if not word.isascii())
    return tuple(found)[:_SHOWN]


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
