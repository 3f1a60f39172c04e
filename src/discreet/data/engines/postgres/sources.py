"""Tables of PostgreSQL: what stands behind a name, its columns and enums, and a fingerprint of its rows.

A name means a table of the database, or one joined to the people it reaches. Columns of an enum are read by the
labels of the state that a transaction sees; a table's content is a hash over its rows, and a counter of its changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass

from discreet.base.unit import FollowedPath, PathCell
from discreet.data.engines.declared import Reached, folded, joined_rows, refuse_own
from discreet.data.engines.dialects import canon, placed, quoted
from discreet.data.engines.postgres.session import Connection
from discreet.errors import CatalogError, UnknownName

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


Columns = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PostgresRows:
    """The rows of a source, for the columns that its tables have: what stands behind FROM."""

    rows: str
    columns: Columns


class PostgresSources:
    """The tables of the catalog, and the paths over which some of them reach their people."""

    def __init__(self, sources: Mapping[str, str], paths: Mapping[str, FollowedPath]) -> None:
        self._places: dict[str, str] = {}
        for name, source in sources.items():
            parts = source.split(".") if "." in source else ["public", source]
            self._places[name] = ".".join(quoted(part) for part in parts)
        self._paths = {name: path for name, path in paths.items() if name in self._places}
        self._behind: dict[str, str] = {}
        for i, name in enumerate(self._paths):
            self._behind[_free(f"path {i}", self._places)] = name

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __repr__(self) -> str:
        said = repr(sorted(self._places.items()))
        return said + (repr(sorted(self._paths.items())) if self._paths else "")

    def spell(self, name: str, columns: Columns) -> None:
        """Read a table from now on by the labels of its enums, if it has such columns."""
        if name not in self._behind.values() and any(kind == ENUM for _, kind in columns):
            self._behind[_free(f"labels {len(self._behind)}", {*self._places, *self._behind})] = (
                name
            )

    @property
    def places(self) -> Mapping[str, str]:
        """Return the quoted SQL names of the tables themselves."""
        return self._places

    def relation(self, name: str) -> str:
        """Return what generated SQL calls a table; `behind` says what that stands for."""
        for key, joined in self._behind.items():
            if joined == name:
                return canon(key, "postgres")
        return self._places[name]

    def copied(self, name: str) -> str:
        """Return what the SELECT of a stored copy calls the rows of a table; see `placed_rows`."""
        return canon(f"source of {name}", "postgres")

    def placed_rows(self, name: str, sql: str, rows: str) -> str:
        """Return the SELECT of a stored copy of a table, over these rows."""
        return placed(sql, "postgres", {f"source of {name}": rows})

    def tables(self, name: str) -> dict[str, str]:
        """Return the quoted SQL names of all tables that are read for one."""
        steps = self._paths[name].steps if name in self._paths else ()
        return {each: self._place(each) for each in (name, *(step.table for step in steps))}

    def behind(self, wire: Connection, sql: str) -> dict[str, str]:
        """Return what the names in generated SQL stand for that are no tables of the database."""
        called = [(key, name) for key, name in self._behind.items() if quoted(key) in sql]
        return {key: self.now(wire, name).rows for key, name in called}

    def standing(self, found: Mapping[str, PostgresRows]) -> dict[str, str]:
        """Return the same for the rows of some tables that are at hand already."""
        return {key: found[name].rows for key, name in self._behind.items() if name in found}

    def now(self, wire: Connection, name: str) -> PostgresRows:
        """Return the rows of a table, for the columns that the tables have now."""
        path, (base, own) = self._paths.get(name), self._rows(wire, self._places[name])
        if path is None:
            if base != self._places[name] and name not in self._behind.values():
                raise enum_is_new(name)
            return PostgresRows(base, own)
        refuse_own(name, path, [column for column, _ in own])
        _named(name, own, path.steps[0].here)
        steps = []
        for step, then in zip(path.steps, [*path.steps[1:], None], strict=True):
            rows, columns = self._rows(wire, self._place(step.table))
            _named(step.table, columns, step.key, path.unit if then is None else then.here)
            types = {folded(column): kind for column, kind in columns}
            steps.append(Reached(rows, types, step.here, step.key))
        types = {folded(column): kind for column, kind in own}
        rows = joined_rows(base, types, steps, path.unit, quoted)
        added = (path.column, "bigint" if path.whole else "text")
        return PostgresRows(f"({rows})", [*own, added])

    def _rows(self, wire: Connection, place: str) -> tuple[str, Columns]:
        columns = columns_of(wire, place)
        return spelled(wire, place, columns), as_text(columns)

    def _place(self, name: str) -> str:
        if name not in self._places:
            raise UnknownName(f"The engine has no table '{name}'.")
        return self._places[name]


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that no table has: what it stands for must not be mistaken for one."""
    while name in taken:
        name += "+"
    return name


def _named(table: str, columns: Columns, *cells: PathCell) -> None:
    known = {column for column, _ in columns}
    for cell in cells:
        if cell.column not in known:
            raise CatalogError(
                f"A path leads over column '{cell.column}' of table '{table}', which its source lacks.",
                hint="Write it in the letters that the database uses.",
            )
