"""One signed-in session: simple and extended queries (prepared statements), portals, errors and notices."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidInput
from discreet.server.pgwire.options import REPORTED, Options
from discreet.server.pgwire.protocol import messages as m
from discreet.server.pgwire.protocol import replies
from discreet.server.pgwire.protocol.channel import Channel, Disconnected
from discreet.server.pgwire.protocol.copy_rows import CopyForm, copied
from discreet.server.pgwire.protocol.problems import Failure, reply_of
from discreet.server.pgwire.protocol.types import WireColumn, read, write
from discreet.server.pgwire.session.cursors import MAX_KEPT, VERBS, Cursors, Portal
from discreet.server.pgwire.session.dispatch import Dispatcher
from discreet.server.pgwire.session.result import Ready, StatementResult, later
from discreet.server.pgwire.session.statements import WireStatement, split

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
            self._channel.put(replies.EMPTY_QUERY)
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
                self._channel.put(replies.row_description(result.columns, formats))
                await self._rows(result, result.rows, formats)
            self._channel.put(replies.complete(result.tag_for(len(result.rows))))
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
                self._channel.put(replies.CLOSE_COMPLETE)
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
        self._channel.put(replies.PARSE_COMPLETE)

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
        self._channel.put(replies.BIND_COMPLETE)

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
            self._channel.put(replies.parameter_description(types))
        columns = None if ready is None else ready.columns
        if columns is None:
            self._channel.put(replies.NO_DATA)
        else:
            self._channel.put(replies.row_description(columns, _spread(formats, len(columns))))

    async def _execute(self, message: m.Execute) -> None:
        portal = self._portal(message.portal)
        if portal.ready is None:
            self._channel.put(replies.EMPTY_QUERY)
            return
        if portal.result is None:
            portal.result = await portal.ready.run(portal.values)
            self._notices(portal.result)
        result = portal.result
        if result.copy is not None:
            await self._copy(result, result.copy)
            self._channel.put(replies.complete(result.tag_for(len(result.rows))))
            return
        if result.columns is None:
            self._channel.put(replies.complete(result.tag))
            return
        formats = _spread(portal.formats, len(result.columns))
        end = portal.sent + message.max_rows if message.max_rows > 0 else len(result.rows)
        rows = result.rows[portal.sent : end]
        await self._rows(result, rows, formats)
        portal.sent += len(rows)
        if portal.sent < len(result.rows):
            self._channel.put(replies.SUSPENDED)
        else:
            self._channel.put(replies.complete(result.tag_for(len(rows))))

    async def _rows(
        self, result: StatementResult, rows: Sequence[Sequence[Any]], formats: Sequence[int]
    ) -> None:
        columns: tuple[WireColumn, ...] = result.columns or ()
        for first in range(0, len(rows), _BATCH):
            data = b"".join(
                replies.data_row(
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
        self._channel.put(replies.copy_out(len(columns), binary=form.binary))
        for number, piece in enumerate(copied(form, columns, result.rows)):
            self._channel.put(replies.copy_data(piece))
            if number % _BATCH == 0:
                await self._channel.drained(WRITE_SECONDS)
        self._channel.put(replies.COPY_DONE)

    def _notices(self, result: StatementResult) -> None:
        if not self._options.quiet:
            for said in result.notices:
                self._channel.put(replies.notice(said))

    def _ready(self) -> None:
        if self._dispatcher.transaction.status == "I":
            self._cursors.end()
        now = self._report()
        for name, value in now.items():
            if self._reported.get(name) != value:
                self._channel.put(replies.parameter(name, value))
        self._reported = now
        self._channel.put(replies.ready(self._dispatcher.transaction.status))

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
