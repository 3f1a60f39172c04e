"""Columns of an enum, read by the labels of the state that a transaction sees."""

from __future__ import annotations

from discreet.engine.dialect.names import quoted
from discreet.engine.postgres.session import Connection
from discreet.errors import CatalogError

ENUM = "enum()"
"""What a column of an enum, or of a domain over one, is called among the columns of a source."""

_ENUMS = """
WITH RECURSIVE base AS (
    SELECT a.attname, t.oid, t.typtype, t.typbasetype, false AS domain
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attname, t.oid, t.typtype, t.typbasetype, true
    FROM base b JOIN pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd'
)
SELECT attname, oid::bigint, CASE WHEN domain THEN format_type(oid, NULL) END
FROM base WHERE typtype = 'e'
"""
_LABELS = (
    'SELECT hashoidextended(oid, 0) AS code, min(CAST(enumlabel AS TEXT)) COLLATE "default" AS label '
    'FROM "pg_catalog"."pg_enum" WHERE enumtypid = {} GROUP BY 1'
)


def spelled(wire: Connection, place: str, columns: list[tuple[str, str]]) -> str:
    """Return what stands behind FROM for a table: its rows, with labels of enums as texts.

    Guarantee: a label is that of the transaction's state. PostgreSQL itself turns an enum into text
        with the label of the moment, which may change between two rows of one statement; `pg_enum`
        is read as rows, like every table. A cell is found by the hash of the number that is kept in
        it, the only way to that number in SQL: two labels of one hash, of 64 bits, would be read as
        one of them, and a row is never doubled.
    """
    if all(kind != ENUM for _, kind in columns):
        return place
    cells, joins = [f"t.{quoted(name)}" for name, _ in columns], ""
    order = {name: number for number, (name, _) in enumerate(columns)}
    for name, oid, base in wire.execute(_ENUMS, [place]).fetchall():
        cell = f"t.{quoted(name)}"
        read = cell if base is None else f"CAST({cell} AS {base})"
        own = f"l{order[name]}"
        cells[order[name]] = f"{own}.label AS {quoted(name)}"
        joins += f" LEFT JOIN ({_LABELS.format(oid)}) AS {own} ON {own}.code = hashenumextended({read}, 0)"
    return f"(SELECT {', '.join(cells)} FROM {place} AS t{joins})"


def as_text(columns: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the columns of spelled rows."""
    return [(name, "text" if kind == ENUM else kind) for name, kind in columns]


def enum_is_new(name: str) -> CatalogError:
    """Return the refusal of a table that got its first column of an enum while it was open."""
    return CatalogError(
        f"The source of table '{name}' has a new column of an enum.",
        hint="Open the catalog again (restart the server), so that its labels are read.",
    )
