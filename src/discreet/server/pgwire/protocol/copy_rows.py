"""Rows as COPY sends them: PostgreSQL's text format, CSV, and its binary format."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from discreet.server.pgwire.protocol.types import WireColumn, sized, write

_ESCAPES = {
    "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip
_BEGIN = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_END = struct.pack("!h", -1)


@dataclass(frozen=True, slots=True)
class CopyForm:
    """How rows are written: the options of COPY ... TO, with PostgreSQL's own defaults."""

    format: Literal["text", "csv", "binary"] = "text"
    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    quoted: frozenset[str] | None = frozenset()
    """Columns that CSV always puts in quotes; None is all of them."""

    @property
    def binary(self) -> bool:
        """Return whether cells are bytes rather than text."""
        return self.format == "binary"


def copied(
    form: CopyForm, columns: Sequence[WireColumn], rows: Sequence[Sequence[Any]]
) -> Iterator[bytes]:
    """Yield what COPY sends, one piece for each row, between the marks that the format has."""
    if form.binary:
        begin = _BEGIN  # sent together with the first row: some clients count the pieces
        for row in rows:
            yield begin + _binary(columns, row)
            begin = b""
        yield begin + _END
        return
    names = [column.name for column in columns]
    quoted = [form.quoted is None or name in form.quoted for name in names]
    if form.header:
        yield _line(form, names, [False] * len(names))
    for row in rows:
        cells = [write(value, column.type, 0) for value, column in zip(row, columns, strict=True)]
        yield _line(form, [None if c is None else c.decode() for c in cells], quoted)


def _binary(columns: Sequence[WireColumn], row: Sequence[Any]) -> bytes:
    cells = (write(value, column.type, 1) for value, column in zip(row, columns, strict=True))
    return struct.pack("!h", len(columns)) + b"".join(map(sized, cells))


def _line(form: CopyForm, cells: Sequence[str | None], quoted: Sequence[bool]) -> bytes:
    if form.format == "csv":
        written = [
            _csv(form, cell, always=always, alone=len(cells) == 1)
            for cell, always in zip(cells, quoted, strict=True)
        ]
    else:
        written = [form.null if cell is None else _escaped(form, cell) for cell in cells]
    return (form.delimiter.join(written) + "\n").encode("utf-8", "replace")


def _escaped(form: CopyForm, cell: str) -> str:
    escapes = {**_ESCAPES, form.delimiter: _ESCAPES.get(form.delimiter, f"\\{form.delimiter}")}
    return "".join(escapes.get(letter, letter) for letter in cell)


def _csv(form: CopyForm, cell: str | None, *, always: bool, alone: bool) -> str:
    if cell is None:
        return form.null
    odd = any(letter in cell for letter in (form.delimiter, form.quote, "\n", "\r"))
    # \. alone on a line would end the data, and what looks like NULL is not NULL.
    if not (always or odd or cell == form.null or (alone and cell == "\\.")):
        return cell
    inner = cell if form.escape == form.quote else cell.replace(form.escape, form.escape * 2)
    return form.quote + inner.replace(form.quote, form.escape + form.quote) + form.quote
