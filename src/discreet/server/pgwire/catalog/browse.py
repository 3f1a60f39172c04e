"""Looking around: catalog queries and previews. Costs nothing, because nothing private is there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from discreet.curator import Curator
from discreet.errors import UnknownName
from discreet.server.pgwire.catalog.functions import macros
from discreet.server.pgwire.catalog.locked import (
    LockedDb,
    PublicRows,
    Unanswerable,
    pg_type,
    previews,
)
from discreet.server.pgwire.catalog.rewrite import RewriteFacts, rewritten
from discreet.server.pgwire.catalog.rows import (
    catalog_tables,
    names_of,
    prefixed,
    search_path,
    view_rows,
)
from discreet.server.pgwire.catalog.tables import (
    INFORMATION_SCHEMA,
    PG_CATALOG,
    PREVIEW,
    VisibleTable,
    columns_of,
    seen_by,
)
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.parameters import filled, literal, output_names, samples
from discreet.server.pgwire.types import TEXT, PgType, WireColumn

Views = Sequence[tuple[str, tuple[WireColumn, ...]]]
KEPT = 16
"""Callers whose catalog is kept ready; the longest unseen are forgotten first."""


@dataclass(frozen=True, slots=True)
class Browser:
    """The catalog and the previews that one caller may see."""

    user: str
    tables: tuple[VisibleTable, ...]
    db: LockedDb

    @classmethod
    def open(cls, curator: Curator, analyst: str | None, user: str) -> Browser:
        """Return a browser over what `analyst` may see; None sees all datasets."""
        tables = seen_by(curator, analyst)
        made = LockedDb(
            [*catalog_tables(tables, user), *previews(tables)], macros(names_of(tables, user))
        )
        return cls(user, tables, made)

    def facts(self, setting: Callable[[str], str], views: Views = ()) -> RewriteFacts:
        """Return what functions such as current_user say, and the session's own views."""
        names = frozenset(seen.name.lower() for seen in self.tables if seen.schema == PREVIEW)
        path = tuple(search_path(self.tables))
        return RewriteFacts(self.user, path, names, setting, with_views(views))

    def check(self, tree: exp.Expr) -> None:
        """Refuse tables that are not the caller's to see, as if there were none."""
        defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        known = {(seen.schema.lower(), seen.name.lower()) for seen in self.tables}
        bare = {name for schema, name in known if schema != PREVIEW}
        for table in tree.find_all(exp.Table):
            name, schema = table.name.lower(), table.db.lower()
            if schema in ("", "public") and (name in bare or (name in defined and not schema)):
                continue
            if (schema, name) not in known and isinstance(table.this, exp.Identifier):
                listed = ", ".join(sorted(bare)) or "none yet"
                said = f"There is no table '{table.name[:60]}'."
                raise UnknownName(said, hint=f"There are: {listed}.")

    def columns(self, schema: str | None = None) -> dict[str, PgType]:
        """Return the type of every column name in sight, to tell the types of parameters."""
        found: dict[str, PgType] = {}
        if schema == "catalog":
            for listed in (*PG_CATALOG.values(), *INFORMATION_SCHEMA.values()):
                found |= {name: pg_type(kind) for name, kind in columns_of(listed)}
            return found
        for seen in self.tables:
            found |= {column.name.lower(): kind for column, kind in seen.columns}
        return found

    def describe(
        self, tree: exp.Expr, types: Sequence[PgType], setting: Callable[[str], str]
    ) -> tuple[WireColumn, ...]:
        """Return the columns that the query will have."""
        try:
            probe = rewritten(filled(tree, samples(types)), self.facts(setting))
            if isinstance(probe, exp.Query):
                probe.set("limit", exp.Limit(expression=exp.Literal.number(0)))
            return self.db.run(probe.sql("duckdb")).columns
        except Unanswerable:
            return _nothing(tree).columns

    def run(
        self,
        tree: exp.Expr,
        values: Sequence[Any],
        setting: Callable[[str], str],
        views: Views = (),
    ) -> PublicRows:
        """Return the rows; a catalog query that cannot be run here finds nothing."""
        try:
            found = rewritten(filled(tree, values), self.facts(setting, views))
            return self.db.run(found.sql("duckdb"))
        except Unanswerable:
            return _nothing(tree)


def _nothing(tree: exp.Expr) -> PublicRows:
    """Return no rows under the right names, for a query over catalog tables."""
    schemas = {table.db.lower() for table in tree.find_all(exp.Table)}
    names = output_names(tree)
    if names is None or not schemas or PREVIEW in schemas:
        raise Failure("0A000", "This query cannot be answered here.", hint="Ask in a simpler way.")
    return PublicRows(tuple(WireColumn(name, TEXT) for name in names), [])


class Browsers:
    """The browsers in use, made when first needed, and again when the catalog has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str | None, str], tuple[Any, Browser]] = OrderedDict()

    def of(self, curator: Curator, analyst: str | None, user: str) -> Browser:
        """Return the browser of a caller."""
        key = (analyst, user)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None or found[0] is not curator.catalog:
                found = (curator.catalog, Browser.open(curator, analyst, user))
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found[1]

    def close(self) -> None:
        """Forget all of them."""
        with self._lock:
            for _, browser in self._kept.values():
                browser.db.close()
            self._kept.clear()


def with_views(views: Sequence[tuple[str, tuple[WireColumn, ...]]]) -> Mapping[str, exp.Query]:
    """Return, by name, the catalog tables that know about views, with rows for these views."""
    if not views:
        return {}
    return {
        name: _joined(name, columns, rows) for name, (columns, rows) in view_rows(views).items()
    }


def _joined(name: str, columns: list[tuple[str, str]], rows: list[tuple[object, ...]]) -> exp.Query:
    names = [exp.column(exp.to_identifier(column, quoted=True)) for column, _ in columns]
    stored = exp.to_identifier(prefixed(name), quoted=True)
    found: exp.Query = exp.select(*names).from_(exp.Table(this=stored))
    for row in rows:
        cells = [
            exp.alias_(exp.cast(literal(cell), kind, dialect="duckdb"), column, quoted=True)
            for cell, (column, kind) in zip(row, columns, strict=True)
        ]
        found = exp.union(found, exp.select(*cells), distinct=False)
    return found
