"""What a PostgreSQL table holds now: its columns, a hash over its rows, a counter of its changes."""

from __future__ import annotations

import hashlib

from discreet.engine.dialect.names import quoted
from discreet.engine.postgres.session import Connection

# Equal in these types is equal to the last bit, so their own hash sees every change.
_EXACT = frozenset(
    {
        *("boolean", "smallint", "integer", "bigint", "date", "uuid", "bytea", "name", "oid"),
        *("timestamp without time zone", "timestamp with time zone"),
    }
)
_IMAGES = {
    "double precision": "pg_catalog.float8send({})",
    "real": "pg_catalog.float4send({})",
    "numeric": "pg_catalog.numeric_send({})",
}
_COLUMNS = """
WITH RECURSIVE base AS (
    SELECT a.attnum, a.attname, t.oid, t.typtype, t.typbasetype,
           CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS typmod
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, b.attname, t.oid, t.typtype, t.typbasetype,
           CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE b.typmod END
    FROM base b JOIN pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd'
)
SELECT attname, CASE WHEN typtype = 'e' THEN 'enum()' ELSE format_type(oid, typmod) END
FROM base WHERE typtype <> 'd' ORDER BY attnum
"""
_COUNTER = """
SELECT concat_ws('|', pg_postmaster_start_time(), d.stat_reset, c.oid, c.relfilenode,
                 pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid),
                 pg_stat_get_tuples_deleted(c.oid),
                 (SELECT string_agg(concat_ws(':', a.attnum, a.attname, a.xmin), ','
                                    ORDER BY a.attnum)
                  FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0),
                 (SELECT string_agg(concat_ws(':', f.adnum, f.xmin), ',' ORDER BY f.adnum)
                  FROM pg_attrdef f WHERE f.adrelid = c.oid),
                 (SELECT md5(string_agg(concat_ws(':', e.oid, e.enumlabel), ',' ORDER BY e.oid))
                  FROM pg_enum e))
FROM pg_class c,
     LATERAL (SELECT pg_stat_get_db_stat_reset_time(oid) AS stat_reset
              FROM pg_database WHERE datname = current_database()) d
WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'm') AND NOT c.relrowsecurity
  AND NOT c.relhassubclass AND NOT pg_is_in_recovery()
  AND current_setting('track_counts') = 'on'
"""


def columns_of(wire: Connection, relation: str) -> list[tuple[str, str]]:
    """Return the columns with PostgreSQL's names for their types; a domain is its base type."""
    rows = wire.execute(_COLUMNS, [relation]).fetchall()
    return [(str(column), str(kind)) for column, kind in rows]


def fingerprint(wire: Connection, relation: str, columns: list[tuple[str, str]]) -> str:
    """Return a hash over all rows of a table of these columns, in whatever order they lie.

    Guarantee: it changes with every inserted, deleted or altered row (up to a collision of two
        64-bit sums), and not by VACUUM, CLUSTER, dump and restore. It reads the whole table: a big or
        busy one is better given a declared version, and nobody asks here.
    """
    row = f"ROW({', '.join(_image(name, kind) for name, kind in columns)})"
    sql = (
        f"SELECT count(*), sum(hash_record_extended({row}, 0)), "
        f"sum(hash_record_extended({row}, 1)) FROM {relation} AS t"
    )
    found = wire.execute(sql.encode()).fetchone()
    return hashlib.sha256(repr((columns, found)).encode()).hexdigest()


def _image(name: str, kind: str) -> str:
    """Return a value that is equal only where the cells are the same to the last bit."""
    cell, plain = f"t.{quoted(name)}", kind.partition("(")[0]
    if plain in _EXACT:
        return cell
    return _IMAGES.get(plain, 'CAST({} AS TEXT) COLLATE "C"').format(cell)


def change_counter(wire: Connection, relation: str) -> str | None:
    """Return a text that moves some time after a table has changed; None where there is none.

    Columns that are renamed or computed otherwise and labels of enums move it, too.

    It may lag behind a change by seconds, so it must never say what rows are *read*: it only says
    when a stored copy, whose own content is known, is worth comparing with its source again. Views,
    partitioned tables, tables under row-level security and standbys have none.
    """
    found = wire.execute(_COUNTER, [relation]).fetchone()
    return None if found is None else str(found[0])
