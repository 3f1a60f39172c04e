"""Results of statements; SET, SHOW, BEGIN and their like, which ask nothing; COPY (SELECT ...) TO STDOUT."""

from __future__ import annotations

import re
import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.options import Options
from discreet.server.pgwire.statements import WireStatement, closing
from discreet.server.pgwire.types import TEXT, PgType, WireColumn, sized, write


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Rows, the tag that ends them, and notices. `columns` is None where there are no rows.

    `copy` says that the rows are sent as COPY sends them, and in which form.
    """

    tag: str
    columns: tuple[WireColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notices: tuple[str, ...] = ()
    counted: bool = False
    copy: CopyForm | None = None

    def tag_for(self, sent: int) -> str:
        """Return the tag after `sent` rows."""
        return f"{self.tag} {sent}" if self.counted else self.tag


@dataclass(frozen=True, slots=True)
class Ready:
    """A statement that is understood: its parameters, its columns, and how to run it."""

    run: Callable[[Sequence[Any]], Awaitable[StatementResult]]
    columns: tuple[WireColumn, ...] | None = None
    parameters: tuple[PgType, ...] = ()


def rows_of(
    columns: tuple[WireColumn, ...], rows: Sequence[Sequence[Any]], *notices: str
) -> StatementResult:
    """Return the result of a SELECT."""
    return StatementResult("SELECT", columns, rows, tuple(notices), counted=True)


def later(act: Callable[[], StatementResult]) -> Ready:
    """Return a statement without parameters or columns that is done when it is run."""

    async def run(_values: Sequence[Any]) -> StatementResult:
        return act()

    return Ready(run)


_SET = re.compile(
    r"SET\s++(?:(?P<scope>SESSION|LOCAL)\s++)?(?P<name>[\w.]++|\"[^\"]++\")\s*+(?:=|TO\b)\s*+(?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_ALIASES = (
    (
        re.compile(r"\ASET\s++(?:(?:SESSION|LOCAL)\s++)?TIME\s++ZONE\s++", re.IGNORECASE),
        "SET timezone = ",
    ),
    (re.compile(r"\ASET\s++NAMES\s++", re.IGNORECASE), "SET client_encoding = "),
)
_TRANSACTION = re.compile(
    r"SET\s++(SESSION\s++CHARACTERISTICS\s++AS\s++)?TRANSACTION\b", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"SET\s++(SESSION\s++|LOCAL\s++)?(ROLE|SESSION\s++AUTHORIZATION)\b", re.IGNORECASE
)


class Transaction:
    """The block that a client believes to be in. Nothing that was paid is ever given back."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.status = "I"
        self._before: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._local: set[str] = set()

    def run(self, statement: WireStatement) -> StatementResult:
        """Return the answer to BEGIN, COMMIT, ROLLBACK or a savepoint."""
        verb, words = statement.verb, statement.words
        if verb in ("BEGIN", "START"):
            if self.status == "I":
                self.status = "T"
                self._before = (dict(self._options.own), dict(self._options.other))
            return StatementResult("BEGIN" if verb == "BEGIN" else "START TRANSACTION")
        if verb in ("SAVEPOINT", "RELEASE"):
            return StatementResult(verb)
        if verb == "ROLLBACK" and "TO" in words:
            self.status = "T" if self.status == "E" else self.status
            return StatementResult("ROLLBACK")
        if verb in ("COMMIT", "END") and self.status != "E":
            self._end(keep=True)
            return StatementResult("COMMIT")
        self._end(keep=False)
        return StatementResult("ROLLBACK")

    def refuse_aborted(self, verb: str) -> None:
        """Refuse any statement but the end of a block in which something went wrong."""
        if self.status == "E" and verb not in ("ROLLBACK", "COMMIT", "END", "ABORT"):
            raise Failure(
                "25P02",
                "The transaction is aborted; statements are ignored until it ends.",
                hint="ROLLBACK. What was paid stays paid.",
            )

    def failed(self) -> None:
        """Note that a statement in the block went wrong."""
        if self.status == "T":
            self.status = "E"

    def local(self, name: str) -> None:
        """Note that a setting holds until the block ends."""
        self._local.add(name)

    def _end(self, *, keep: bool) -> None:
        own, other = self._before
        if self.status != "I":
            if not keep:
                self._options.own, self._options.other = own, other
            for name in self._local:
                before = own.get(name.removeprefix("discreet.")) or other.get(name)
                self._options.set(name, before)
        self.status = "I"
        self._local.clear()


def set_setting(
    statement: WireStatement, options: Options, transaction: Transaction
) -> StatementResult:
    """Carry out a SET."""
    text = statement.text
    if _FORBIDDEN.match(text):
        raise Failure(
            "42501", "Who asks is decided by the token.", hint="Connect with another one."
        )
    if _TRANSACTION.match(text):
        return StatementResult("SET")
    for pattern, spelled in _ALIASES:
        text = pattern.sub(spelled, text, count=1)
    found = _SET.fullmatch(text)
    if found is None:
        raise Failure("42601", "This SET cannot be read.", hint="SET name = value.")
    name = found["name"].strip('"').lower()
    value = value_of(found["value"])
    options.set(name, None if value.upper() == "DEFAULT" and "'" not in found["value"] else value)
    if (found["scope"] or "").upper() == "LOCAL":
        transaction.local(name)
    return StatementResult("SET")


def value_of(written: str) -> str:
    """Return the value of a SET without its quotes; a list keeps its commas."""
    parts = re.findall(r"'(?:[^']|'')*+'|\"[^\"]*+\"|[^\s,]++", written)
    return ", ".join(
        part[1:-1].replace("''", "'") if part[:1] in ("'", '"') and len(part) > 1 else part
        for part in parts
    )


def reset_setting(statement: WireStatement, options: Options) -> StatementResult:
    """Carry out a RESET."""
    name = re.sub(r"^RESET\s+", "", statement.text, flags=re.IGNORECASE).strip().strip('"')
    options.reset(None if name.upper() == "ALL" else _shown_name(name))
    return StatementResult("RESET")


def shown_columns(statement: WireStatement) -> tuple[WireColumn, ...]:
    """Return the columns of a SHOW."""
    name = show_name(statement)
    if name == "all":
        return tuple(WireColumn(each, TEXT) for each in ("name", "setting", "description"))
    return (WireColumn(name, TEXT),)


def show_name(statement: WireStatement) -> str:
    """Return what a SHOW asks for."""
    name = re.sub(r"^SHOW\s+", "", statement.text, flags=re.IGNORECASE).strip().strip('"')
    return _shown_name(name)


def _shown_name(written: str) -> str:
    words = " ".join(written.lower().split())
    return {
        "time zone": "timezone",
        "transaction isolation level": "transaction_isolation",
        "session authorization": "is_superuser",
    }.get(words, words)


_COPY_BEGIN = re.compile(r"COPY\s*+(?:BINARY\s++)?(?=\()", re.IGNORECASE)
_TABLE = re.compile(
    r"COPY\s++(?:BINARY\s++)?(?P<name>[\w$.\"]++)\s*+(?P<columns>\([^)]*+\))?\s*+(?=TO\b|FROM\b)",
    re.IGNORECASE,
)
_TARGET = re.compile(r"\s*+TO\s++(?P<target>STDOUT|STDIN|PROGRAM|'(?:[^']|'')*+')", re.IGNORECASE)
_OPTION = re.compile(
    r"\s*+(?P<name>FORMAT|DELIMITERS?|NULL|HEADER|QUOTE|ESCAPE|FORCE[\s_]++QUOTE|ENCODING|BINARY|CSV"
    r"|OIDS|FREEZE|DEFAULT)\b(?:\s++AS\b)?\s*+"
    r"(?P<value>E?'(?:[^']|'')*+'|\*|\([^)]*+\)|TRUE|FALSE|ON|OFF|MATCH|TEXT\b|CSV\b|BINARY\b"
    r"|[01]\b|\"[^\"]++\"|UTF-?8)?\s*+,?",
    re.IGNORECASE,
)
MOST_OPTIONS = 50
_LETTERS = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}
_EXAMPLE = "Write: COPY (SELECT sex, COUNT(*) FROM people GROUP BY sex) TO STDOUT (FORMAT csv)."

Understand = Callable[[WireStatement, Sequence[int]], Awaitable[Ready]]


async def copy_ready(
    statement: WireStatement, declared: Sequence[int], understand: Understand
) -> Ready:
    """Return a COPY ... TO STDOUT ready to run: the inner question, and how its rows are written.

    Guarantee: the inner SELECT takes the way of every SELECT: understood for nothing, charged when
        it runs, once. Writing its rows differently is post-processing.
    """
    inner, form = read_copy(statement)
    if inner.verb == "COPY":  # each inside of another would be read once more
        raise Failure("42601", "COPY takes a SELECT.", hint=_EXAMPLE)
    ready = await understand(inner, declared)
    if ready.columns is None:
        raise Failure("42601", "COPY takes a SELECT.", hint=_EXAMPLE)
    if form.quoted:
        _refuse_unknown(form.quoted, {column.name for column in ready.columns})

    async def run(values: Sequence[Any]) -> StatementResult:
        return replace(await ready.run(values), tag="COPY", counted=True, copy=form)

    return Ready(run, None, ready.parameters)


def _refuse_unknown(names: frozenset[str], known: set[str]) -> None:
    for name in sorted(names - known):
        raise Failure("42703", f"There is no column '{name[:60]}' in the answer.")


def read_copy(statement: WireStatement) -> tuple[WireStatement, CopyForm]:
    """Return the question inside of a COPY, and the form in which its rows are wanted."""
    text = statement.text
    begin = _COPY_BEGIN.match(text)
    if begin is None:
        return _table(statement)
    end = closing(text, begin.end())
    if end is None:
        raise Failure("42601", "This COPY cannot be read.", hint=_EXAMPLE)
    inner = statement.part(begin.end() + 1, end)
    return inner, _form(text, end + 1)


def _table(statement: WireStatement) -> tuple[WireStatement, CopyForm]:
    """Read COPY table TO STDOUT as SELECT * FROM it: made-up rows can be had, others are refused."""
    found = _TABLE.match(statement.text)
    if found is None:
        raise Failure("42601", "This COPY cannot be read.", hint=_EXAMPLE)
    form = _form(statement.text, found.end())
    wanted = (found["columns"] or "*").strip("()")
    asked = WireStatement(f"SELECT {wanted} FROM {found['name']}", ("SELECT",), statement.hints)
    return asked, form


def _form(text: str, at: int) -> CopyForm:
    target = _TARGET.match(text, at)
    if target is None:
        if re.match(r"\s*FROM\b", text[at:], re.IGNORECASE):
            raise Failure("25006", "COPY ... FROM is declined: the data cannot be changed.")
        raise Failure("42601", "This COPY cannot be read.", hint=_EXAMPLE)
    if target["target"].upper() not in ("STDOUT", "STDIN"):
        raise Failure("42501", "The server writes no files.", hint="COPY ... TO STDOUT.")
    rest = re.sub(r"^\s*WITH\b", "", text[target.end() :], flags=re.IGNORECASE).strip()
    if rest.startswith("("):
        end = closing(rest, 0)
        if end != len(rest) - 1:
            raise Failure("42601", "The options of COPY cannot be read.", hint=_EXAMPLE)
        rest = rest[1:-1].strip()
    return _checked(dict(_options(rest)))


def _options(written: str) -> Iterator[tuple[str, str]]:
    at, count = 0, 0
    while at < len(written):
        found, count = _OPTION.match(written, at), count + 1
        if found is None or found.end() == at or count > MOST_OPTIONS:
            raise Failure("42601", "The options of COPY cannot be read.", hint=_EXAMPLE)
        name = "_".join(found["name"].upper().replace("_", " ").split())
        value = found["value"] or ""
        at = found.end()
        if name in ("BINARY", "CSV"):  # as it was written before PostgreSQL 9.0
            yield "FORMAT", name.lower()
        else:
            yield {"DELIMITERS": "DELIMITER"}.get(name, name), value


def _checked(options: dict[str, str]) -> CopyForm:
    kind = _text(options.pop("FORMAT", "text")).lower()
    if kind not in ("text", "csv", "binary"):
        raise Failure("22023", "COPY writes text, csv or binary.", hint=_EXAMPLE)
    form = CopyForm("csv", delimiter=",", null="") if kind == "csv" else CopyForm()
    if kind == "binary":
        form = CopyForm("binary")
    for name, value in options.items():
        reader = _READERS.get(name)
        if reader is None or (form.binary and name != "ENCODING"):
            raise Failure("0A000", f"The option {name} is not available here.", hint=_EXAMPLE)
        form = reader(form, value)
    if form.format != "csv" and (form.quoted != frozenset() or "QUOTE" in options):
        raise Failure("0A000", "Quotes are an option of CSV only.", hint=_EXAMPLE)
    return form


def _text(value: str) -> str:
    inner = value[value.find("'") + 1 : -1].replace("''", "'") if value.endswith("'") else value
    return _LETTERS.get(inner, inner) if value[:1] in ("e", "E") else inner.strip('"')


def _letter(value: str) -> str:
    letter = _text(value)
    if len(letter.encode("utf-8", "replace")) != 1 or letter in "\r\n\\":
        raise Failure("22023", "Delimiter, quote and escape of COPY are one letter each.")
    return letter


def _encoding(form: CopyForm, value: str) -> CopyForm:
    if _text(value).upper().replace("-", "") not in ("UTF8", "UNICODE"):
        raise Failure("22023", "Only UTF8 is spoken here.")
    return form


def _quoted(form: CopyForm, value: str) -> CopyForm:
    if value == "*":
        return replace(form, quoted=None)
    names = [name.strip() for name in value.strip("()").split(",")]
    return replace(
        form, quoted=frozenset(n[1:-1] if n.startswith('"') else n.lower() for n in names)
    )


_READERS: dict[str, Callable[[CopyForm, str], CopyForm]] = {
    "DELIMITER": lambda form, value: replace(form, delimiter=_letter(value)),
    "NULL": lambda form, value: replace(form, null=_text(value)),
    "HEADER": lambda form, value: replace(
        form, header=_text(value).upper() not in ("FALSE", "OFF", "0")
    ),
    "QUOTE": lambda form, value: replace(form, quote=_letter(value), escape=_letter(value)),
    "ESCAPE": lambda form, value: replace(form, escape=_letter(value)),
    "FORCE_QUOTE": _quoted,
    "ENCODING": _encoding,
}


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
