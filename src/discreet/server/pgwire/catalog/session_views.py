"""Rows about a session's own views, put into the catalog tables that a client asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from discreet.server.pgwire.catalog.rows import prefixed, view_rows
from discreet.server.pgwire.parameters import literal
from discreet.server.pgwire.protocol.types import WireColumn


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
