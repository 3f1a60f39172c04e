"""What a client sends: the frontend messages of the PostgreSQL protocol, version 3."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, TypeVar

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
