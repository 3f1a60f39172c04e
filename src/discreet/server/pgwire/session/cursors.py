"""SQL cursors: DECLARE computes and pays for the whole answer, FETCH pages through its rows."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.session.commands import Transaction
from discreet.server.pgwire.session.result import Ready, StatementResult, later
from discreet.server.pgwire.session.statements import NAME, WireStatement, name_in

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
