"""A statement to something that is ready to run: which part of the endpoint answers it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from discreet.api import ParsedStatement
from discreet.errors import QueryRefused
from discreet.server.pgwire.catalog.browse import Browser, Browsers
from discreet.server.pgwire.catalog.visible import PREVIEW
from discreet.server.pgwire.options import DEFAULTS, OURS, Options
from discreet.server.pgwire.parameters import parameter_types
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.protocol.types import FLOAT8, INT8, TEXT, PgType, WireColumn
from discreet.server.pgwire.session import commands
from discreet.server.pgwire.session.commands import Transaction
from discreet.server.pgwire.session.copying import copy_ready
from discreet.server.pgwire.session.question import (
    Asker,
    WireQuestion,
    explained,
    pg_columns,
    pg_result,
)
from discreet.server.pgwire.session.reading import asked, browsed
from discreet.server.pgwire.session.result import Ready, StatementResult, later, rows_of
from discreet.server.pgwire.session.schema_only import asks_for_no_rows, over_previews
from discreet.server.pgwire.session.statements import WireStatement, refuse_bomb
from discreet.server.pgwire.session.views import Views
from discreet.server.workspace import Workspace

_BLOCK = {"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"}
_ACCEPTED = {"LISTEN", "UNLISTEN", "LOCK"}
_WRITES = {"INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "GRANT",
           "REVOKE", "COMMENT", "VACUUM", "ANALYZE", "REINDEX", "CLUSTER", "REFRESH"}  # fmt: skip
_QUESTIONS = {"SELECT", "WITH", "VALUES", "TABLE", "("}
_CATALOGS = {"pg_catalog", "information_schema"}
_BUDGET = tuple(
    WireColumn(name, kind)
    for name, kind in (
        ("dataset", TEXT),
        ("epsilon_limit", FLOAT8),
        ("epsilon_spent", FLOAT8),
        ("epsilon_left", FLOAT8),
        ("delta_limit", FLOAT8),
        ("delta_spent", FLOAT8),
        ("charges", INT8),
        ("budget", TEXT),
    )
)


class Dispatcher:
    """Understands the statements of one session. Understanding never charges."""

    def __init__(
        self,
        workspace: Workspace,
        browsers: Browsers,
        asker: Asker,
        options: Options,
        user: str,
    ) -> None:
        self._workspace = workspace
        self._browsers = browsers
        self._asker = asker
        self._options = options
        self._user = user
        self.transaction = Transaction(options)
        self._views = Views(self._columns, asker.aside)

    async def ready(self, statement: WireStatement, declared: Sequence[int] = ()) -> Ready:
        """Return the statement ready to run, or refuse it."""
        verb = statement.verb
        refuse_bomb(statement.text)
        self.transaction.refuse_aborted(verb)
        if verb in _QUESTIONS or (not verb and statement.text.startswith("(")):
            return await self._select(statement, declared)
        if verb == "EXPLAIN":
            return await self._explain(statement, declared)
        if verb == "COPY":
            return await copy_ready(statement, declared, self.ready)
        if verb == "SHOW":
            return self._show(statement)
        if verb in ("CREATE", "DROP"):
            made = await self._views.ready(statement)
            if made is not None:
                return made
        return self._command(statement)

    def _command(self, statement: WireStatement) -> Ready:
        verb = statement.verb
        if verb in _BLOCK:
            return later(lambda: self.transaction.run(statement))
        if verb == "SET":
            return later(lambda: commands.set_setting(statement, self._options, self.transaction))
        if verb == "RESET":
            return later(lambda: commands.reset_setting(statement, self._options))
        if verb == "DISCARD":
            return later(self._discard)
        if verb in _ACCEPTED:
            return later(lambda: StatementResult(verb))
        if verb in _WRITES:
            raise Failure(
                "25006",
                f"{verb} is declined: the data cannot be changed through Discreet.",
                hint="Only SELECT statements can be asked, and TEMPORARY VIEWs made of them.",
            )
        raise Failure(
            "0A000",
            "Only SELECT statements can be asked.",
            hint="The data cannot be changed, copied or listed through Discreet.",
        )

    def _discard(self) -> StatementResult:
        self._options.reset()
        self._views.clear()
        return StatementResult("DISCARD ALL")

    async def _select(self, statement: WireStatement, declared: Sequence[int]) -> Ready:
        await self._asker.readable(statement.text)
        tree = self._views.expanded(await self._asker.aside(browsed, statement))
        place = _place(tree)
        if place == "question" and asks_for_no_rows(tree):
            return await self._shape(tree, declared)
        if place == "question":
            return await self._question(statement, declared)
        return await self._browsing(tree, declared, place)

    async def _columns(self, statement: WireStatement) -> tuple[WireColumn, ...]:
        """Return the columns of a SELECT that may even show rows: its names and types are public."""
        if statement.verb not in _QUESTIONS:
            raise Failure("42601", "A view is made of a SELECT.")
        refuse_bomb(statement.text)
        try:
            ready = await self._select(statement, ())
        except QueryRefused:
            tree = self._views.expanded(await self._asker.aside(browsed, statement))
            ready = await self._shape(tree, ())
        if ready.columns is None or ready.parameters:
            raise Failure("42601", "A view is made of a SELECT without parameters.")
        return ready.columns

    async def _shape(self, tree: exp.Expr, declared: Sequence[int]) -> Ready:
        """Return a question over the caller's tables as one over made-up rows, for its columns only."""
        (await asyncio.to_thread(self._browser)).check(tree)
        return await self._browsing(over_previews(tree), declared, PREVIEW)

    async def _browsing(self, tree: exp.Expr, declared: Sequence[int], place: str) -> Ready:
        browser = await asyncio.to_thread(self._browser)
        types = parameter_types(tree, declared, browser.columns(place))
        setting = self._options.show
        columns = await self._asker.aside(browser.describe, tree, types, setting)

        async def run(values: Sequence[Any]) -> StatementResult:
            found = await self._asker.aside(browser.run, tree, values, setting, self._views.shown)
            return rows_of(found.columns, found.rows)

        return Ready(run, columns, types)

    def _browser(self) -> Browser:
        with self._workspace.curator() as curator:
            return self._browsers.of(curator, self._asker.caller.analyst, self._user)

    async def _question(self, statement: WireStatement, declared: Sequence[int]) -> Ready:
        parsed = self._views.asking(await self._asker.aside(asked, statement))
        question, types = await self._understood(parsed, declared)
        errors = self._options.asking(statement.hints).errors
        outputs = await self._asker.columns(question, types)
        columns = pg_columns(outputs, question, errors=errors)

        async def run(values: Sequence[Any]) -> StatementResult:
            asking = self._options.asking(statement.hints)
            answer = await self._asker.answer(question, values, asking)
            return pg_result(answer, outputs, columns, errors=errors, notices=asking.notices)

        return Ready(run, columns, types)

    async def _understood(
        self, parsed: ParsedStatement, declared: Sequence[int]
    ) -> tuple[WireQuestion, tuple[PgType, ...]]:
        """Return a question over tables that the caller may see, and the types of its parameters."""
        browser = await asyncio.to_thread(self._browser)
        browser.check(parsed.tree)
        types = parameter_types(parsed.tree, declared, browser.columns())
        return WireQuestion(parsed, browser.tables), types

    async def _explain(self, statement: WireStatement, declared: Sequence[int]) -> Ready:
        inner, as_json = _explained_statement(statement)
        await self._asker.readable(inner.text)
        parsed = self._views.asking(await self._asker.aside(asked, inner))
        if _place(parsed.tree) != "question":
            raise Failure("0A000", "Only questions over private tables are explained.")
        question, types = await self._understood(parsed, declared)
        columns = (WireColumn("QUERY PLAN", TEXT),)

        async def run(values: Sequence[Any]) -> StatementResult:
            asking = self._options.asking(inner.hints)
            found = await self._asker.explanation(question, values, asking)
            lines = [json.dumps([found.to_json()])] if as_json else explained(found)
            return StatementResult("EXPLAIN", columns, [(line,) for line in lines])

        return Ready(run, columns, types)

    def _show(self, statement: WireStatement) -> Ready:
        name = commands.show_name(statement)
        if name == "discreet.budget":
            return Ready(self._budget, _BUDGET)
        columns = commands.shown_columns(statement)

        async def run(_values: Sequence[Any]) -> StatementResult:
            if name == "all":
                ours = [
                    (f"discreet.{n}", self._options.show(f"discreet.{n}"), each.help)
                    for n, each in OURS.items()
                ]
                rows = [*ours, *((n, self._options.show(n), "") for n in sorted(DEFAULTS))]
                return StatementResult("SHOW", columns, rows)
            return StatementResult("SHOW", columns, [(self._options.show(name),)])

        if name != "all":
            self._options.show(name)  # an unknown name is refused before it is run
        return Ready(run, columns)

    async def _budget(self, _values: Sequence[Any]) -> StatementResult:
        payer = self._asker.caller.asks_as(self._options.asking(()).analyst).analyst

        def look() -> dict[str, Any]:
            with self._workspace.curator() as curator:
                found: dict[str, Any] = curator.share_report(payer)
                return found

        report = await asyncio.to_thread(look)
        rows = [
            (
                name,
                *(facts["epsilon"][part] for part in ("limit", "spent", "left")),
                *(facts["delta"][part] for part in ("limit", "spent")),
                facts["charges"],
                facts["budget"],  # datasets of the same people share one: its row is there twice
            )
            for name, facts in report["datasets"].items()
        ]
        return StatementResult("SHOW", _BUDGET, rows)


def _place(tree: exp.Expr) -> str:
    """Return who answers: the catalog, the previews, or the curator."""
    defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    schemas = set()
    for table in tree.find_all(exp.Table):
        name, schema = table.name.lower(), table.db.lower()
        if isinstance(table.this, exp.Func | exp.Dot) or (not schema and name in defined):
            continue
        catalog = schema in _CATALOGS or (not schema and name.startswith("pg_"))
        schemas.add("catalog" if catalog else PREVIEW if schema == PREVIEW else "question")
    if PREVIEW in schemas and "question" in schemas:
        raise Failure(
            "0A000",
            "Previews hold made-up rows and cannot be mixed with real tables.",
            hint="Ask about one of them at a time.",
        )
    if "catalog" in schemas and "question" in schemas:
        raise Failure("0A000", "Catalog tables cannot be mixed with private ones.")
    return next(iter(schemas - {"catalog"}), "catalog")


def _explained_statement(statement: WireStatement) -> tuple[WireStatement, bool]:
    words = statement.words
    skip = 1
    while skip < len(words) and words[skip] in ("ANALYZE", "VERBOSE"):
        skip += 1
    if "ANALYZE" in words[:skip]:
        raise _no_analyze()
    inner = statement.after(skip)
    as_json = False
    if inner.text.startswith("(") and inner.verb == "":
        given, _, rest = inner.text[1:].partition(")")
        if any(word in given.upper() for word in ("SELECT", "WITH ")):
            return inner, False
        if "ANALYZE" in given.upper() or "ANALYSE" in given.upper():
            raise _no_analyze()
        as_json = "JSON" in given.upper()
        found = WireStatement(rest, (), inner.hints).after(0)
        return found, as_json
    if words[skip : skip + 1] == ("ANALYSE",):
        raise _no_analyze()
    return inner, as_json


def _no_analyze() -> Failure:
    return Failure(
        "0A000",
        "EXPLAIN ANALYZE is declined: it would run the question.",
        hint="Plain EXPLAIN shows the price and the expected error, and spends nothing.",
    )
