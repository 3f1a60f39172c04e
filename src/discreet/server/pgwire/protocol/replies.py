"""What the server sends: the backend messages, as bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from discreet.server.pgwire.protocol.types import PgType, WireColumn, sized

PARSE_COMPLETE = b"1\0\0\0\4"
BIND_COMPLETE = b"2\0\0\0\4"
CLOSE_COMPLETE = b"3\0\0\0\4"
NO_DATA = b"n\0\0\0\4"
EMPTY_QUERY = b"I\0\0\0\4"
SUSPENDED = b"s\0\0\0\4"
COPY_DONE = b"c\0\0\0\4"


def message(tag: bytes, body: bytes = b"") -> bytes:
    """Return one message."""
    return tag + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """Return a text field; a zero byte cannot be sent and becomes a space."""
    return value.replace("\0", " ").encode("utf-8", "replace") + b"\0"


def authentication(code: int, data: bytes = b"") -> bytes:
    """Return a step of the sign-in dialogue."""
    return message(b"R", struct.pack("!i", code) + data)


def parameter(name: str, value: str) -> bytes:
    """Return the report of a setting."""
    return message(b"S", text(name) + text(value))


def key_data(process: int, secret: int) -> bytes:
    """Return what a client must repeat to cancel."""
    return message(b"K", struct.pack("!II", process, secret))


def ready(status: str) -> bytes:
    """Return "ready for a query": idle, in a transaction, or in a failed one."""
    return message(b"Z", status.encode())


def negotiate(minor: int, options: Sequence[str]) -> bytes:
    """Return the newest minor version spoken here, and the options that are not known."""
    names = b"".join(map(text, options))
    return message(b"v", struct.pack("!ii", minor, len(options)) + names)


def row_description(columns: Sequence[WireColumn], formats: Sequence[int]) -> bytes:
    """Return names, types and formats of the columns."""
    body = struct.pack("!h", len(columns))
    for column, form in zip(columns, formats, strict=True):
        kind = column.type
        body += text(column.name[:200])
        body += struct.pack("!IhIhih", 0, 0, kind.oid, kind.size, -1, form)
    return message(b"T", body)


def parameter_description(types: Sequence[PgType]) -> bytes:
    """Return the types of a statement's parameters."""
    oids = b"".join(struct.pack("!I", kind.oid) for kind in types)
    return message(b"t", struct.pack("!h", len(types)) + oids)


def data_row(cells: Sequence[bytes | None]) -> bytes:
    """Return one row of encoded cells."""
    return message(b"D", struct.pack("!h", len(cells)) + b"".join(map(sized, cells)))


def copy_out(columns: int, *, binary: bool) -> bytes:
    """Return the beginning of a COPY to the client."""
    return message(b"H", struct.pack(f"!bh{columns}h", binary, columns, *[int(binary)] * columns))


def copy_data(data: bytes) -> bytes:
    """Return one piece of what COPY sends."""
    return message(b"d", data)


def complete(tag: str) -> bytes:
    """Return the end of a statement with its tag."""
    return message(b"C", text(tag))


def problem(
    code: str, said: str, *, hint: str = "", severity: str = "ERROR", position: int = 0
) -> bytes:
    """Return an error with its SQLSTATE, and the letter of the text that it is about, from 1 on."""
    where = b"P" + text(str(position)) if position else b""
    return message(b"E", _fields(severity, code, said, hint, where))


def notice(said: str) -> bytes:
    """Return something worth knowing that is no error."""
    return message(b"N", _fields("NOTICE", "00000", said, ""))


def _fields(severity: str, code: str, said: str, hint: str, where: bytes = b"") -> bytes:
    body = b"S" + text(severity) + b"V" + text(severity) + b"C" + text(code) + b"M" + text(said)
    return body + (b"H" + text(hint) if hint else b"") + where + b"\0"
