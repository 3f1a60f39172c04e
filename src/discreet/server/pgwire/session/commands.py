"""Statements that are no questions: SET, SHOW, BEGIN, DISCARD and their like."""

from __future__ import annotations

import re

from discreet.server.pgwire.options import Options
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.protocol.types import TEXT, WireColumn
from discreet.server.pgwire.session.result import StatementResult
from discreet.server.pgwire.session.statements import WireStatement

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
