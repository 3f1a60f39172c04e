"""Temporary views of one session: a SELECT under a name, as tools make them to learn its columns."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from discreet.api import ParsedStatement
from discreet.errors import QueryRefused
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.protocol.types import WireColumn
from discreet.server.pgwire.session.reading import asked, browsed
from discreet.server.pgwire.session.result import Ready, StatementResult, later
from discreet.server.pgwire.session.statements import NAME, WireStatement, name_in

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
