"""Casts in catalog queries: PostgreSQL's own type names to what DuckDB knows."""

from __future__ import annotations

from sqlglot import exp

from discreet.server.pgwire.catalog.functions import PREFIX
from discreet.server.pgwire.protocol.problems import Failure

_NAMES = {
    "text": "VARCHAR", "name": "VARCHAR", "char": "VARCHAR", "varchar": "VARCHAR",
    "bpchar": "VARCHAR", "character varying": "VARCHAR", "sql_identifier": "VARCHAR",
    "character_data": "VARCHAR", "yes_or_no": "VARCHAR", "cardinal_number": "INTEGER",
    "oid": "UINTEGER", "xid": "UINTEGER", "cid": "UINTEGER", "regproc": "VARCHAR",
    "regprocedure": "VARCHAR", "regoper": "VARCHAR", "regrole": "VARCHAR", "int": "INTEGER",
    "integer": "INTEGER", "int4": "INTEGER", "int2": "SMALLINT", "smallint": "SMALLINT",
    "int8": "BIGINT", "bigint": "BIGINT", "bool": "BOOLEAN", "boolean": "BOOLEAN",
    "float4": "REAL", "real": "REAL", "float8": "DOUBLE", "double precision": "DOUBLE",
    "double": "DOUBLE", "float": "DOUBLE", "numeric": "DECIMAL(38, 6)", "decimal": "DECIMAL(38, 6)",
    "date": "DATE", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP",
    "int2vector": "SMALLINT[]", "oidvector": "UINTEGER[]", "aclitem": "VARCHAR",
    "pg_node_tree": "VARCHAR", "unknown": "VARCHAR", "cstring": "VARCHAR", "json": "VARCHAR",
    "jsonb": "VARCHAR", "pg_lsn": "VARCHAR", "interval": "INTERVAL",
}  # fmt: skip
_NAME_COLUMNS = ("name", "schema")
_LOOKED_UP = ("regclass", "regtype", "regnamespace")


def recast(node: exp.Cast) -> exp.Expr:
    """Return a cast that DuckDB knows; one to an object name looks the object up."""
    name = target_name(node.to)
    if name in _LOOKED_UP:
        return _object(node.this, name)
    array = name.endswith("[]")
    known = _NAMES.get(name.removesuffix("[]"))
    if known is None:
        raise Failure("42704", f"The type {name[:40]} is not available here.")
    inner = node.this
    if array and isinstance(inner, exp.Literal) and inner.name.startswith("{"):
        inner = _listed(inner.name)
    shown = known if not array or known.endswith("[]") else f"{known}[]"
    return exp.Cast(this=inner, to=exp.DataType.build(shown, dialect="duckdb"))


def target_name(target: exp.Expr) -> str:
    """Return the bare lower-case name of a type, with [] where it is an array."""
    if isinstance(target, exp.DataType) and target.this == exp.DataType.Type.ARRAY:
        inner = target.expressions[0] if target.expressions else None
        return (target_name(inner) if inner is not None else "text") + "[]"
    written = target.sql("postgres").lower().split("(")[0].replace('"', "")
    for schema in ("pg_catalog.", "information_schema."):
        written = written.removeprefix(schema)
    return written.strip()


def _object(inner: exp.Expr, kind: str) -> exp.Expr:
    """Return the number of a written name, or the name of a number."""
    if isinstance(inner, exp.Literal) and inner.name.isdecimal():
        return inner
    # Which columns hold numbers cannot be seen here; those that hold names say so in their own.
    numbered = isinstance(inner, exp.Column) and not inner.name.lower().endswith(_NAME_COLUMNS)
    if isinstance(inner, exp.Cast):
        numbered = inner.to.sql("duckdb") not in ("TEXT", "VARCHAR")
    way = "name" if numbered else "number"
    return exp.Anonymous(this=f"{PREFIX}{kind}_{way}", expressions=[inner])


def _listed(written: str) -> exp.Expr:
    parts = [part.strip().strip('"') for part in written.strip("{}").split(",")]
    return exp.Array(expressions=[exp.Literal.string(part) for part in parts if part])
