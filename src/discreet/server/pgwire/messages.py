"""The messages of the PostgreSQL protocol, version 3, in both directions; errors as SQLSTATE codes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from discreet import errors
from discreet.errors import DiscreetError
from discreet.server.logs import log_failure
from discreet.server.pgwire.types import PgType, WireColumn, sized

PROTOCOL = 196608
CANCEL_CODE = 80877102
SSL_CODE = 80877103
GSS_CODE = 80877104
MAX_STARTUP = 10_000
MAX_MESSAGE = 1 << 20
"""No question needs more bytes than this; a longer message is a mistake or an attack."""
MAX_VALUES = 1000
"""Parameters of one statement; the protocol itself would allow 65,535."""


class ProtocolError(Exception):
    """Bytes that are no message. The connection is closed; nothing else happens."""


@dataclass(frozen=True, slots=True)
class Startup:
    """The first message: who connects, and with which settings."""

    parameters: dict[str, str]
    version: int


class WireSignal(Enum):
    """A message that says nothing but what it is; the first two may come before a Startup."""

    TLS_REQUEST = "the client would like to speak TLS"
    GSS_REQUEST = "the client would like to speak GSSAPI encryption, which there is none of"
    SYNC = "the end of a run of extended messages"
    FLUSH = "send what has been held back"
    TERMINATE = "goodbye"
    UNSUPPORTED = "the protocol knows it, and it is declined here: COPY data, function calls"


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Another connection of the same client asks to stop what that session runs."""

    process: int
    secret: int


@dataclass(frozen=True, slots=True)
class Query:
    """Text with any number of statements."""

    sql: str


@dataclass(frozen=True, slots=True)
class Parse:
    """A statement to prepare; `types` are the parameter types that the client declares."""

    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """Parameter values for a prepared statement, which becomes a portal."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """A request for the columns of a statement or of a portal."""

    portal: bool
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    """Run a portal and send at most `max_rows` of its rows; 0 is all."""

    portal: str
    max_rows: int


@dataclass(frozen=True, slots=True)
class Close:
    """Forget a statement or a portal."""

    portal: bool
    name: str


@dataclass(frozen=True, slots=True)
class Secret:
    """A message of the sign-in dialogue."""

    data: bytes


Field = TypeVar("Field")
First: TypeAlias = Startup | CancelRequest | WireSignal
Message: TypeAlias = Query | Parse | Bind | Describe | Execute | Close | Secret | WireSignal


class _Fields:
    """Reads the fields of one message's body in order; whatever does not fit is a ProtocolError."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        found: int = struct.unpack(form, self.take(size))[0]
        return found

    def take(self, count: int) -> bytes:
        end = self._at + count
        if count < 0 or end > len(self._body):
            raise ProtocolError("a message ends too early")
        found = self._body[self._at : end]
        self._at = end
        return found

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise ProtocolError("a text has no end")
        found = self.take(end - self._at)
        self._at += 1
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError:
            raise ProtocolError("a text is not UTF-8") from None

    def several(self, read: Callable[[], Field]) -> tuple[Field, ...]:
        count = self.number("!H")
        if count > MAX_VALUES:
            raise ProtocolError("too many values")
        return tuple(read() for _ in range(count))

    def numbers(self, form: str) -> tuple[int, ...]:
        return self.several(lambda: self.number(form))

    def value(self) -> bytes | None:
        size = self.number("!i")
        return None if size == -1 else self.take(size)

    def end(self) -> None:
        if self._at != len(self._body):
            raise ProtocolError("a message is longer than its fields")


def read_first(body: bytes) -> First:
    """Return the first message of a connection, which has no type byte."""
    fields = _Fields(body)
    code = fields.number("!i")
    if code == CANCEL_CODE:
        found: First = CancelRequest(fields.number("!I"), fields.number("!I"))
        fields.end()
        return found
    if code in (SSL_CODE, GSS_CODE):
        fields.end()
        return WireSignal.TLS_REQUEST if code == SSL_CODE else WireSignal.GSS_REQUEST
    if code >> 16 != PROTOCOL >> 16:
        raise ProtocolError("not a version of the protocol")
    parameters: dict[str, str] = {}
    while (name := fields.text()) != "":
        parameters[name] = fields.text()
    fields.end()
    return Startup(parameters, code)


def read_message(tag: bytes, body: bytes) -> Message:
    """Return the message with this type byte and body."""
    reader = _READERS.get(tag)
    if reader is None:
        raise ProtocolError("an unknown kind of message")
    fields = _Fields(body)
    found = reader(fields)
    if found is not WireSignal.UNSUPPORTED and not isinstance(found, Secret):
        fields.end()
    return found


def _bind(fields: _Fields) -> Bind:
    portal, statement, formats = fields.text(), fields.text(), fields.numbers("!h")
    return Bind(portal, statement, formats, fields.several(fields.value), fields.numbers("!h"))


def _what(fields: _Fields) -> bool:
    kind = fields.take(1)
    if kind not in (b"S", b"P"):
        raise ProtocolError("neither a statement nor a portal")
    return kind == b"P"


_READERS: Final[dict[bytes, Callable[[_Fields], Message]]] = {
    b"Q": lambda fields: Query(fields.text()),
    b"P": lambda fields: Parse(fields.text(), fields.text(), fields.numbers("!I")),
    b"B": _bind,
    b"D": lambda fields: Describe(_what(fields), fields.text()),
    b"E": lambda fields: Execute(fields.text(), fields.number("!i")),
    b"C": lambda fields: Close(_what(fields), fields.text()),
    b"S": lambda _fields: WireSignal.SYNC,
    b"H": lambda _fields: WireSignal.FLUSH,
    b"X": lambda _fields: WireSignal.TERMINATE,
    b"p": lambda fields: Secret(fields._body),  # noqa: SLF001  # the dialogue reads its own fields
    b"F": lambda _fields: WireSignal.UNSUPPORTED,
    b"d": lambda _fields: WireSignal.UNSUPPORTED,
    b"c": lambda _fields: WireSignal.UNSUPPORTED,
    b"f": lambda _fields: WireSignal.UNSUPPORTED,
}


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


class Failure(DiscreetError):
    """A refusal with a SQLSTATE of its own, and the letter of the text that it is about (or 0)."""

    def __init__(self, code: str, message: str, *, hint: str = "", position: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.position = position


_CODES: tuple[tuple[type[DiscreetError], str], ...] = (
    (errors.NotSignedIn, "28000"),
    (errors.AccessDenied, "42501"),
    (errors.BudgetExceeded, "53400"),
    (errors.UnknownName, "42P01"),
    (errors.NotReviewed, "42501"),
    (errors.CatalogError, "42501"),
    (errors.RequestConflict, "23505"),
    (errors.StillRunning, "55P03"),
    (errors.AnswerLost, "58000"),
    (errors.Cancelled, "57014"),
    (errors.TooLarge, "54000"),
    (errors.TooManyRequests, "53300"),
    (errors.EngineFailed, "58000"),
    (errors.LedgerBusy, "55P03"),
    (errors.LedgerError, "58030"),
    (errors.NotInForce, "57P03"),
    (errors.CollectorClosed, "57P03"),
    (errors.MissingExtra, "0A000"),
    (errors.InvalidInput, "22023"),
    (errors.ServerFailed, "XX000"),
    (DiscreetError, "XX000"),
)
"""The first that fits gives the code."""

_REFUSED = {"syntax": "42601", "function": "42883"}


def code_of(error: DiscreetError) -> str:
    """Return the SQLSTATE of an error."""
    if isinstance(error, Failure):
        return error.code
    if isinstance(error, errors.QueryRefused):
        return _REFUSED.get(error.construct, "0A000")
    if isinstance(error, errors.UnknownName) and "column" in error.message:
        return "42703"
    return next(code for kind, code in _CODES if isinstance(error, kind))


def reply_of(error: BaseException, *, severity: str = "ERROR") -> bytes:
    """Return the message for an error; one that nobody foresaw says nothing about itself."""
    if isinstance(error, DiscreetError):
        position = error.position if isinstance(error, Failure) else 0
        return problem(
            code_of(error), error.message, hint=error.hint, severity=severity, position=position
        )
    log_failure(error)
    said = "Something went wrong inside the server; nothing uncharged was released."
    return problem("XX000", said, severity=severity)
