"""A statement to something that is ready to run: which part answers it; temporary views, queries for columns only."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from discreet.curator import ParsedStatement
from discreet.errors import QueryRefused
from discreet.server.pgwire import results
from discreet.server.pgwire.catalog.browse import Browser, Browsers
from discreet.server.pgwire.catalog.tables import PREVIEW
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.options import DEFAULTS, OURS, Options
from discreet.server.pgwire.parameters import parameter_types
from discreet.server.pgwire.question import Asker, WireQuestion, explained, pg_columns, pg_result
from discreet.server.pgwire.results import (
    Ready,
    StatementResult,
    Transaction,
    copy_ready,
    later,
    rows_of,
)
from discreet.server.pgwire.statements import (
    NAME,
    WireStatement,
    asked,
    browsed,
    name_in,
    refuse_bomb,
)
from discreet.server.pgwire.types import FLOAT8, INT8, TEXT, PgType, WireColumn
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
            return later(lambda: results.set_setting(statement, self._options, self.transaction))
        if verb == "RESET":
            return later(lambda: results.reset_setting(statement, self._options))
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
        name = results.show_name(statement)
        if name == "discreet.budget":
            return Ready(self._budget, _BUDGET)
        columns = results.shown_columns(statement)

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


MAX_VIEWS = 100
MOST_NODES = 12_000
"""Names, constants and operators of a question after its views have been put in."""
_CREATE = re.compile(
    rf"CREATE\s++(?P<again>OR\s++REPLACE\s++)?TEMP(?:ORARY)?\s++VIEW\s++(?:pg_temp\.)?{NAME}\s++AS\s++(?=\S)",
    re.IGNORECASE,
)
_DROP = re.compile(
    rf"DROP\s++VIEW\s++(?P<calm>IF\s++EXISTS\s++)?(?:pg_temp\.)?{NAME}(?:\s++(?:CASCADE|RESTRICT))?",
    re.IGNORECASE,
)
_DROP_NOTHING = re.compile(r"DROP\s++VIEW\s++IF\s++EXISTS", re.IGNORECASE)
"""What ibis 12 sends with the SQL writer of today: the name is lost on the way."""

Describe = Callable[[WireStatement], Awaitable[tuple[WireColumn, ...]]]
Aside = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class SessionView:
    """A SELECT under a name: parsed once for browsing and once as a question, and its columns."""

    name: str
    browsed: exp.Expr
    asked: exp.Expr | None
    columns: tuple[WireColumn, ...]


class Views:
    """The temporary views of one session.

    Guarantee: a view holds no rows. Its SELECT is put into the tree of each question that names it,
        which is then asked, refused or charged as if it had been written there.
    """

    def __init__(self, describe: Describe, aside: Aside) -> None:
        self._describe = describe
        self._aside = aside
        self._views: dict[str, SessionView] = {}

    @property
    def shown(self) -> list[tuple[str, tuple[WireColumn, ...]]]:
        """Return the names and columns of the views, oldest first."""
        return [(view.name, view.columns) for view in self._views.values()]

    async def ready(self, statement: WireStatement) -> Ready | None:
        """Return a CREATE or DROP of a temporary view ready to run; None where it is something else."""
        if (found := _CREATE.match(statement.text)) is not None:
            return await self._create(statement, found)
        if (found := _DROP.fullmatch(statement.text)) is not None:
            return self._drop(found)
        if _DROP_NOTHING.fullmatch(statement.text) is not None:
            return later(lambda: StatementResult("DROP VIEW"))
        return None

    async def _create(self, statement: WireStatement, found: re.Match[str]) -> Ready:
        inner, name = statement.part(found.end()), name_in(found)
        columns = await self._describe(inner)
        view = await self._aside(self._made, name, inner, columns)

        def run() -> StatementResult:
            if name in self._views and not found["again"]:
                raise Failure("42P07", "There is already a view of this name.", hint="DROP it.")
            while len(self._views) >= MAX_VIEWS:
                del self._views[next(iter(self._views))]  # the oldest: tools forget to drop theirs
            self._views[name] = view
            return StatementResult("CREATE VIEW")

        return later(run)

    def _made(
        self, name: str, inner: WireStatement, columns: tuple[WireColumn, ...]
    ) -> SessionView:
        tree = self.expanded(browsed(inner))
        try:
            question: exp.Expr | None = self.asking(asked(inner)).tree
        except QueryRefused:
            question = None  # a catalog query need not be a question
        return SessionView(name, tree, question, columns)

    def _drop(self, found: re.Match[str]) -> Ready:
        name = name_in(found)

        def run() -> StatementResult:
            if self._views.pop(name, None) is None and not found["calm"]:
                raise Failure("42P01", "There is no temporary view of this name.")
            return StatementResult("DROP VIEW")

        return later(run)

    def clear(self) -> None:
        """Forget all of them."""
        self._views.clear()

    def expanded(self, tree: exp.Expr) -> exp.Expr:
        """Return a query for browsing with the views' own SELECTs in their places."""
        return _expanded(tree, {name: view.browsed for name, view in self._views.items()})

    def asking(self, question: ParsedStatement) -> ParsedStatement:
        """Return a question with the views' own SELECTs in their places."""
        trees = {name: view.asked for name, view in self._views.items() if view.asked is not None}
        return replace(question, tree=_expanded(question.tree, trees))


def _expanded(tree: exp.Expr, views: dict[str, exp.Expr]) -> exp.Expr:
    if not views:
        return tree
    copy, size = tree.copy(), 0
    defined = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    for table in list(copy.find_all(exp.Table)):
        named = isinstance(table.this, exp.Identifier) and table.db.lower() in ("", "pg_temp")
        name = _spelled(table.this) if named else ""
        if name not in views or (not table.db and name in defined):
            continue
        size += sum(1 for _ in views[name].walk())
        if size > MOST_NODES:
            raise Failure("54001", "The views make the question too large.", hint="Ask for less.")
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        put = exp.Subquery(this=views[name].copy(), alias=alias.copy())
        for part in ("joins", "laterals"):
            if table.args.get(part):
                put.set(part, table.args[part])
        table.replace(put)
    return copy


def _spelled(name: exp.Expr) -> str:
    return name.name if name.args.get("quoted") else name.name.lower()


def asks_for_no_rows(tree: exp.Expr) -> bool:
    """Return whether the answer has no row, whatever the data is."""
    if not isinstance(tree, exp.Select):
        return False
    limit = tree.args.get("limit")
    count = None if limit is None else limit.args.get("expression") or limit.args.get("count")
    if isinstance(count, exp.Literal) and not count.is_string and count.name == "0":
        return True
    where = tree.args.get("where")
    whole = tree.args.get("group") or tree.args.get("having") or tree.find(exp.AggFunc)
    return where is not None and not whole and _never(where.this)


def _never(condition: exp.Expr) -> bool:
    match condition:
        case exp.Paren():
            return _never(condition.this)
        case exp.And():
            return _never(condition.left) or _never(condition.right)
        case exp.Boolean():
            return not condition.this
        case exp.EQ() | exp.NEQ():
            left, right = condition.left, condition.right
            if not (isinstance(left, exp.Literal) and isinstance(right, exp.Literal)):
                return False
            equal = (left.this, left.is_string) == (right.this, right.is_string)
            return equal if isinstance(condition, exp.NEQ) else not equal
    return False


def over_previews(tree: exp.Expr) -> exp.Expr:
    """Return the question over the made-up rows, of which none is wanted.

    Guarantee: no private table is left in it, so that it costs nothing and tells nothing.
    """
    copy = tree.copy()
    defined = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    for table in copy.find_all(exp.Table):
        named = isinstance(table.this, exp.Identifier)
        if named and (table.db or table.name.lower() not in defined):
            table.set("db", exp.to_identifier(PREVIEW))
            table.set("catalog", None)
    copy.set("limit", exp.Limit(expression=exp.Literal.number(0)))
    return copy
