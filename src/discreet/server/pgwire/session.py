"""One signed-in session: simple and extended queries, portals, cursors, errors and notices."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidInput
from discreet.server.pgwire import messages
from discreet.server.pgwire import messages as m
from discreet.server.pgwire.connection import Channel, Disconnected
from discreet.server.pgwire.dispatch import Dispatcher
from discreet.server.pgwire.messages import Failure, reply_of
from discreet.server.pgwire.options import REPORTED, Options
from discreet.server.pgwire.results import (
    CopyForm,
    Ready,
    StatementResult,
    Transaction,
    copied,
    later,
)
from discreet.server.pgwire.statements import NAME, WireStatement, name_in, split
from discreet.server.pgwire.types import WireColumn, read, write

IDLE_SECONDS = 3600.0
WRITE_SECONDS = 120.0
_BATCH = 500
"""Rows after which the client must keep up."""


class WireSession:
    """Answers the messages of one client until it leaves.

    `allowed` is asked before every statement and raises when the token has been revoked.
    """

    def __init__(
        self, channel: Channel, dispatcher: Dispatcher, options: Options, allowed: Any
    ) -> None:
        self._channel = channel
        self._dispatcher = dispatcher
        self._options = options
        self._allowed = allowed
        self._statements: dict[str, Ready | None] = {}
        self._portals: dict[str, Portal] = {}
        self._cursors = Cursors(self._portals, dispatcher.transaction, dispatcher.ready)
        self._reported = self._report()
        self._skipping = False

    async def run(self) -> None:
        """Answer until the client says goodbye or hangs up."""
        self._ready()
        while True:
            message = await self._channel.next(IDLE_SECONDS)
            if message is m.WireSignal.TERMINATE:
                return
            await self._answer(message)
            await self._channel.drained(WRITE_SECONDS)

    async def _answer(self, message: m.Message) -> None:
        if message is m.WireSignal.SYNC:
            self._skipping = False
            self._ready()
            return
        if self._skipping:
            return
        try:
            if isinstance(message, m.Query | m.Parse | m.Execute):
                await self._allowed()
            if isinstance(message, m.Query):
                await self._query(message)
            else:
                await self._extended(message)
        except (m.ProtocolError, Disconnected, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001  # one bad statement never ends the server
            self._fail(error)
            if isinstance(message, m.Query):
                self._ready()
            else:
                self._skipping = True

    def _fail(self, error: Exception) -> None:
        self._dispatcher.transaction.failed()
        if isinstance(error, Failure) and error.code == "57P01":
            self._channel.put(reply_of(error, severity="FATAL"))
            raise Disconnected
        self._channel.put(reply_of(error))

    async def _query(self, message: m.Query) -> None:
        found = split(message.sql)
        if not found:
            self._channel.put(messages.EMPTY_QUERY)
        for statement in found:
            ready = await self._prepared(statement, ())
            if ready.parameters:
                raise Failure("42P02", "There is no parameter $1.", hint="Values must be bound.")
            result = await ready.run(())
            self._notices(result)
            if result.copy is not None:
                await self._copy(result, result.copy)
            elif result.columns is not None:
                formats = (0,) * len(result.columns)
                self._channel.put(messages.row_description(result.columns, formats))
                await self._rows(result, result.rows, formats)
            self._channel.put(messages.complete(result.tag_for(len(result.rows))))
        self._ready()

    async def _extended(self, message: m.Message) -> None:
        match message:
            case m.Parse():
                await self._parse(message)
            case m.Bind():
                self._bind(message)
            case m.Describe():
                self._describe(message)
            case m.Execute():
                await self._execute(message)
            case m.Close():
                kept = self._portals if message.portal else self._statements
                kept.pop(message.name, None)
                self._channel.put(messages.CLOSE_COMPLETE)
            case m.WireSignal.FLUSH:
                pass  # nothing is held back
            case _:
                raise Failure("0A000", "COPY FROM and function calls are declined.")

    async def _parse(self, message: m.Parse) -> None:
        if message.name and message.name in self._statements:
            raise Failure("42P05", "There is already a prepared statement of this name.")
        if len(self._statements) >= MAX_KEPT:
            raise Failure("53000", "Too many prepared statements.", hint="DEALLOCATE ALL.")
        found = split(message.sql)
        if len(found) > 1:
            raise Failure("42601", "Only one statement can be prepared at a time.")
        ready = await self._prepared(found[0], message.types) if found else None
        self._statements[message.name] = ready
        self._channel.put(messages.PARSE_COMPLETE)

    async def _prepared(self, statement: WireStatement, types: Sequence[int]) -> Ready:
        if statement.verb in VERBS:
            return await self._cursors.ready(statement, types)
        if statement.verb == "DEALLOCATE":
            return later(lambda: StatementResult(self._forget(statement)))
        return await self._dispatcher.ready(statement, types)

    def _forget(self, statement: WireStatement) -> str:
        name = statement.text.split()[-1].strip('"')
        if name.upper() == "ALL":
            self._statements.clear()
            return "DEALLOCATE ALL"
        self._statements.pop(name, None)
        return "DEALLOCATE"

    def _bind(self, message: m.Bind) -> None:
        ready = self._statement(message.statement)
        if len(self._portals) >= MAX_KEPT:
            raise Failure("53000", "Too many portals.")
        types = () if ready is None else ready.parameters
        if len(message.values) != len(types):
            raise Failure("08P01", f"The statement has {len(types)} parameters.")
        formats = _spread(message.formats, len(types))
        values = [
            read(value, kind, form)
            for value, kind, form in zip(message.values, types, formats, strict=True)
        ]
        self._portals[message.portal] = Portal(ready, values, message.result_formats)
        self._channel.put(messages.BIND_COMPLETE)

    def _statement(self, name: str) -> Ready | None:
        if name not in self._statements:
            raise Failure("26000", "There is no prepared statement of this name.")
        return self._statements[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise Failure("34000", "There is no portal of this name.")
        return self._portals[name]

    def _describe(self, message: m.Describe) -> None:
        if message.portal:
            portal = self._portal(message.name)
            ready, formats = portal.ready, portal.formats
        else:
            ready, formats = self._statement(message.name), ()
            types = () if ready is None else ready.parameters
            self._channel.put(messages.parameter_description(types))
        columns = None if ready is None else ready.columns
        if columns is None:
            self._channel.put(messages.NO_DATA)
        else:
            self._channel.put(messages.row_description(columns, _spread(formats, len(columns))))

    async def _execute(self, message: m.Execute) -> None:
        portal = self._portal(message.portal)
        if portal.ready is None:
            self._channel.put(messages.EMPTY_QUERY)
            return
        if portal.result is None:
            portal.result = await portal.ready.run(portal.values)
            self._notices(portal.result)
        result = portal.result
        if result.copy is not None:
            await self._copy(result, result.copy)
            self._channel.put(messages.complete(result.tag_for(len(result.rows))))
            return
        if result.columns is None:
            self._channel.put(messages.complete(result.tag))
            return
        formats = _spread(portal.formats, len(result.columns))
        end = portal.sent + message.max_rows if message.max_rows > 0 else len(result.rows)
        rows = result.rows[portal.sent : end]
        await self._rows(result, rows, formats)
        portal.sent += len(rows)
        if portal.sent < len(result.rows):
            self._channel.put(messages.SUSPENDED)
        else:
            self._channel.put(messages.complete(result.tag_for(len(rows))))

    async def _rows(
        self, result: StatementResult, rows: Sequence[Sequence[Any]], formats: Sequence[int]
    ) -> None:
        columns: tuple[WireColumn, ...] = result.columns or ()
        for first in range(0, len(rows), _BATCH):
            data = b"".join(
                messages.data_row(
                    [
                        write(value, column.type, form)
                        for value, column, form in zip(row, columns, formats, strict=True)
                    ]
                )
                for row in rows[first : first + _BATCH]
            )
            self._channel.put(data)
            await self._channel.drained(WRITE_SECONDS)

    async def _copy(self, result: StatementResult, form: CopyForm) -> None:
        columns = result.columns or ()
        self._channel.put(messages.copy_out(len(columns), binary=form.binary))
        for number, piece in enumerate(copied(form, columns, result.rows)):
            self._channel.put(messages.copy_data(piece))
            if number % _BATCH == 0:
                await self._channel.drained(WRITE_SECONDS)
        self._channel.put(messages.COPY_DONE)

    def _notices(self, result: StatementResult) -> None:
        if not self._options.quiet:
            for said in result.notices:
                self._channel.put(messages.notice(said))

    def _ready(self) -> None:
        if self._dispatcher.transaction.status == "I":
            self._cursors.end()
        now = self._report()
        for name, value in now.items():
            if self._reported.get(name) != value:
                self._channel.put(messages.parameter(name, value))
        self._reported = now
        self._channel.put(messages.ready(self._dispatcher.transaction.status))

    def _report(self) -> dict[str, str]:
        return {shown: self._options.show(name) for name, shown in REPORTED.items()}


def _spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """Return one format for each value: none given is text, one given is for all."""
    if any(form not in (0, 1) for form in formats):
        raise InvalidInput("There are only text and binary formats.")
    if not formats:
        return (0,) * count
    if len(formats) == 1:
        return (formats[0],) * count
    if len(formats) != count:
        raise Failure("08P01", "As many formats are needed as there are values.")
    return tuple(formats)


VERBS = frozenset({"DECLARE", "FETCH", "MOVE", "CLOSE"})
MAX_KEPT = 1000
"""Portals, cursors among them, that one session may keep."""
MOST_CELLS = 2_000_000
"""Cells of results that a session's cursors may hold before the next one is declared."""
_FURTHEST = 10**9

# No possessive group: Python before 3.11.5 matches those wrongly when what is inside can be matched in several ways.
_DECLARE = re.compile(
    rf"DECLARE\s++{NAME}(?P<kind>(?:\s++(?:BINARY|ASENSITIVE|INSENSITIVE|NO\s++SCROLL|SCROLL))*)"
    r"\s++CURSOR(?:\s++(?P<hold>WITH|WITHOUT)\s++HOLD)?\s++FOR\s++(?P<query>.+)",
    re.IGNORECASE | re.DOTALL,
)
_FETCH = re.compile(
    r"(?:FETCH|MOVE)(?:\s++(?P<way>NEXT|PRIOR|FIRST|LAST|ABSOLUTE|RELATIVE|FORWARD|BACKWARD))?"
    rf"(?:\s++(?P<count>[+-]?\s*+\d{{1,18}}|ALL))?(?:\s++(?:FROM|IN))?\s++{NAME}",
    re.IGNORECASE,
)
_CLOSE = re.compile(rf"CLOSE\s++{NAME}", re.IGNORECASE)

Prepare = Callable[[WireStatement, Sequence[int]], Awaitable[Ready]]


@dataclass
class Portal:
    """A statement with its values, and how much of its result has been sent.

    A cursor is a portal that SQL has made: clients may describe and execute it as well. `sent` is
    then where it stands: 0 before the first row, one more than there are rows after the last.
    """

    ready: Ready | None
    values: Sequence[Any]
    formats: tuple[int, ...]
    result: StatementResult | None = None
    sent: int = 0
    hold: bool = False
    scroll: bool = True


class Cursors:
    """The statements about cursors of one session, which share their names with its portals.

    Guarantee: a question is asked, and charged, once: by DECLARE. Fetching spends nothing.
    """

    def __init__(
        self, portals: dict[str, Portal], transaction: Transaction, prepare: Prepare
    ) -> None:
        self._portals = portals
        self._transaction = transaction
        self._prepare = prepare

    async def ready(self, statement: WireStatement, types: Sequence[int]) -> Ready:
        """Return a DECLARE, FETCH, MOVE or CLOSE ready to run, or refuse it."""
        self._transaction.refuse_aborted(statement.verb)
        if statement.verb == "DECLARE":
            return await self._declare(statement, types)
        if statement.verb == "CLOSE":
            return self._close(statement)
        return self._fetch(statement)

    def end(self) -> None:
        """Forget, after a transaction, all portals but those WITH HOLD."""
        for name in [name for name, portal in self._portals.items() if not portal.hold]:
            del self._portals[name]

    async def _declare(self, statement: WireStatement, types: Sequence[int]) -> Ready:
        found = _read(_DECLARE, statement, "DECLARE name CURSOR FOR SELECT ...")
        kind, hold = found["kind"].upper().split(), (found["hold"] or "").upper() == "WITH"
        if "BINARY" in kind:
            raise Failure("0A000", "Binary cursors are declined.", hint="Leave BINARY out.")
        ready = await self._prepare(statement.part(found.start("query")), types)
        if ready.columns is None:
            raise Failure("42601", "A cursor is declared for a SELECT.")
        name, scroll = name_in(found), "NO" not in kind

        async def run(values: Sequence[Any]) -> StatementResult:
            self._refuse(name, hold=hold)  # before anything is paid for
            result = await ready.run(values)
            self._portals[name] = Portal(ready, values, (), result, hold=hold, scroll=scroll)
            return StatementResult("DECLARE CURSOR", notices=result.notices)

        return Ready(run, None, ready.parameters)

    def _refuse(self, name: str, *, hold: bool) -> None:
        if self._transaction.status == "I" and not hold:
            raise Failure(
                "25P01",
                "DECLARE CURSOR needs a transaction.",
                hint="BEGIN first, or declare it WITH HOLD.",
            )
        if name in self._portals:
            raise Failure("42P03", "There is already a cursor of this name.", hint="CLOSE it.")
        if len(self._portals) >= MAX_KEPT or _held(self._portals) > MOST_CELLS:
            raise Failure("53000", "Too many cursors.", hint="CLOSE ALL.")

    def _fetch(self, statement: WireStatement) -> Ready:
        found = _read(_FETCH, statement, "FETCH FORWARD 100 FROM name")
        name, verb = name_in(found), statement.verb
        columns = self._result(name)[1].columns if verb == "FETCH" else None

        async def run(_values: Sequence[Any]) -> StatementResult:
            portal, result = self._result(name)
            if verb == "FETCH" and result.columns != columns:
                raise Failure("0A000", "The cursor has been declared anew.", hint="Prepare again.")
            rows, place = _paged(portal, result, found["way"], found["count"])
            portal.sent = place
            if verb == "MOVE":
                return StatementResult(f"MOVE {len(rows)}")
            return StatementResult("FETCH", columns, rows, counted=True)

        return Ready(run, columns)

    def _result(self, name: str) -> tuple[Portal, StatementResult]:
        portal = self._portals.get(name)
        if portal is None or portal.result is None or portal.result.columns is None:
            raise Failure("34000", "There is no cursor of this name.", hint="DECLARE it first.")
        return portal, portal.result

    def _close(self, statement: WireStatement) -> Ready:
        found = _read(_CLOSE, statement, "CLOSE name")

        def run() -> StatementResult:
            if found["name"].upper() == "ALL":
                self._portals.clear()
                return StatementResult("CLOSE CURSOR ALL")
            if self._portals.pop(name_in(found), None) is None:
                raise Failure("34000", "There is no cursor of this name.")
            return StatementResult("CLOSE CURSOR")

        return later(run)


def _held(portals: dict[str, Portal]) -> int:
    """Return how many cells the results hold that are kept."""
    results = [portal.result for portal in portals.values() if portal.result is not None]
    return sum(len(result.rows) * len(result.columns or ()) for result in results)


def _read(pattern: re.Pattern[str], statement: WireStatement, example: str) -> re.Match[str]:
    found = pattern.fullmatch(statement.text)
    if found is None:
        raise Failure("42601", f"This {statement.verb} cannot be read.", hint=f"Write: {example}.")
    return found


def _paged(
    portal: Portal, result: StatementResult, way: str | None, count: str | None
) -> tuple[Sequence[Sequence[Any]], int]:
    """Return the rows that a FETCH gives, and where the cursor stands afterwards."""
    rows, at = result.rows, portal.sent
    after = len(rows) + 1
    everything = (count or "").upper() == "ALL"
    number = _FURTHEST if everything else int("".join((count or "1").split()))
    kind = (way or "FORWARD").upper()
    if kind in ("FIRST", "LAST", "ABSOLUTE", "RELATIVE"):
        wanted = {"FIRST": 1, "LAST": -1, "RELATIVE": at + number}.get(kind, number)
        place = after + wanted if wanted < 0 and kind != "RELATIVE" else wanted
        place = min(max(place, 0), after)
        _refuse_back(portal, back=place < at)
        return rows[place - 1 : place] if place else (), place
    step = -number if kind in ("PRIOR", "BACKWARD") else number
    if step == 0:
        return rows[at - 1 : at] if at else (), at
    place = min(max(at + step, 0), after)
    _refuse_back(portal, back=step < 0)
    if step > 0:
        return rows[at : place if place < after else len(rows)], place
    return rows[max(place, 1) - 1 : max(at - 1, 0)][::-1], place


def _refuse_back(portal: Portal, *, back: bool) -> None:
    if back and not portal.scroll:
        raise Failure("55000", "This cursor only goes forward.", hint="Declare it with SCROLL.")
