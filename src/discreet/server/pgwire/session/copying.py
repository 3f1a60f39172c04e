"""COPY (SELECT ...) TO STDOUT: a question whose answer is sent as a stream of rows."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from discreet.server.pgwire.protocol.copy_rows import CopyForm
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.session.result import Ready, StatementResult
from discreet.server.pgwire.session.statements import WireStatement, closing

_BEGIN = re.compile(r"COPY\s*+(?:BINARY\s++)?(?=\()", re.IGNORECASE)
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
    begin = _BEGIN.match(text)
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
