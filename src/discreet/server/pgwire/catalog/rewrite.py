"""A client's catalog query, rewritten to run on our own catalog tables in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sqlglot import exp

from discreet.server.pgwire.catalog.functions import EMPTY_TABLES, MACROS, NULLED, PASSED, PREFIX
from discreet.server.pgwire.catalog.locked import Unanswerable, stored_name
from discreet.server.pgwire.catalog.rows import DATABASE, prefixed
from discreet.server.pgwire.catalog.tables import (
    INFORMATION_SCHEMA,
    PG_CATALOG,
    PREVIEW,
    SECRET_PREFIXES,
)
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.parameters import literal, name_outputs

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


_ALWAYS_EMPTY = {"pg_auth_members", "pg_inherits"}
"""Trees of roles and of tables, which clients climb; nobody has any here."""
_LOW = {"pg_type"}
"""Trees of types: an array has its elements below it, and nothing is below those."""
_STEPS = 1


def end_recursion(tree: exp.Expr) -> None:
    """Change the recursive queries of a tree into plain ones, inner ones first, or refuse them."""
    for with_ in reversed(list(tree.find_all(exp.With))):
        if with_.args.get("recursive"):
            with_.set("expressions", [made for cte in with_.expressions for made in _plain(cte)])
            with_.set("recursive", False)


def _plain(cte: exp.CTE) -> list[exp.CTE]:
    union = cte.this
    if not isinstance(union, exp.Union) or not _names(union.expression, cte.alias):
        return [cte]
    step = union.expression
    joins = (step.args.get("joins") or []) if isinstance(step, exp.Select) else []
    if any(join.this.name.lower() in _ALWAYS_EMPTY and not join.side for join in joins):
        cte.set("this", union.this)  # the first step is all there is
        return [cte]
    if any(table.name.lower() in _LOW for table in step.find_all(exp.Table)):
        return _unrolled(cte, union)
    raise Failure("0A000", "WITH RECURSIVE is not supported here.")


def _names(tree: exp.Expr, name: str) -> list[exp.Table]:
    return [t for t in tree.find_all(exp.Table) if not t.db and t.name.lower() == name.lower()]


def _unrolled(cte: exp.CTE, union: exp.Union) -> list[exp.CTE]:
    """Return the first step and those over it, each over the one before, and all of them together."""
    names = [f"{cte.alias} {place}" for place in range(_STEPS + 1)]
    found = [_cte(cte, names[0], union.this.copy())]
    for before, name in pairwise(names):
        step = union.expression.copy()
        for table in _names(step, cte.alias):
            table.set("alias", table.args.get("alias") or exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(before, quoted=True))
        found.append(_cte(cte, name, step))
    whole: exp.Query = _all(names[0])
    for name in names[1:]:
        whole = exp.union(whole, _all(name), distinct=False)
    return [*found, _cte(cte, cte.alias, whole)]


def _cte(like: exp.CTE, name: str, query: exp.Expr) -> exp.CTE:
    alias = like.args["alias"].copy()
    alias.set("this", exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias)


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(exp.Table(this=exp.to_identifier(name, quoted=True)))


@dataclass(frozen=True, slots=True)
class RewriteFacts:
    """What functions without arguments say: who asks, where, and with which settings."""

    user: str
    path: tuple[str, ...]
    previews: frozenset[str]
    setting: Callable[[str], str]
    replaced: Mapping[str, exp.Query] = field(default_factory=dict)
    """Catalog tables that hold more for this session: instead of their names, these queries."""


def rewritten(tree: exp.Expr, facts: RewriteFacts) -> exp.Expr:
    """Return the query over our own tables and functions only.

    Guarantee: every table is one of ours and every function is on a list; anything else is refused,
        so that DuckDB's own catalog, files and settings cannot be named.
    """
    copy = tree.copy()
    end_recursion(copy)
    name_outputs(copy)
    defined = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    for node in reversed(list(copy.walk())):
        if isinstance(node.parent, exp.DataType):
            continue  # the parts of a type's name are not expressions; the cast reads them
        new = _changed(node, facts, defined)
        if new is not node and node.parent is not None:
            node.replace(new)
    return copy


def _changed(node: exp.Expr, facts: RewriteFacts, defined: set[str]) -> exp.Expr:
    if isinstance(node, exp.Table):
        return _table(node, facts, defined)
    if isinstance(node, exp.Column):
        for part in ("db", "catalog"):
            node.set(part, None)
        return node
    for kind, rule in _REWRITTEN.items():
        if isinstance(node, kind):
            return rule(node)
    if isinstance(node, exp.Placeholder | exp.Parameter | exp.SessionParameter):
        raise Failure("42P02", "A parameter has no value.")
    if isinstance(node, exp.Func):
        return _function(node, facts)
    return node


def _table(node: exp.Table, facts: RewriteFacts, defined: set[str]) -> exp.Expr:
    name, schema = node.name.lower(), node.db.lower()
    if isinstance(node.this, exp.Func | exp.Dot):
        return _table_function(node)
    if not schema and name in defined:
        return node
    if schema == PREVIEW:
        if name not in facts.previews:
            raise Failure("42P01", f"There is no table 'preview.{node.name[:60]}'.")
        return _renamed(node, stored_name(name))
    if _secret(name) and schema in ("", "pg_catalog"):
        raise Failure(
            "42501", f"'{name[:60]}' is not shown here.", hint="It would tell about rows."
        )
    if schema in ("", "pg_catalog") and name in facts.replaced:
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        inner = facts.replaced[name].copy()
        return exp.Subquery(this=inner, alias=alias.copy(), joins=node.args.get("joins"))
    if schema in ("", "pg_catalog") and name in PG_CATALOG:
        return _renamed(node, prefixed(name))
    if schema == "information_schema" and name in INFORMATION_SCHEMA:
        return _renamed(node, prefixed(f"information_schema.{name}"))
    if schema in ("pg_catalog", "information_schema") or name.startswith("pg_"):
        raise Unanswerable(f"There is no '{name[:60]}' here.")
    raise Failure("42P01", f"There is no table '{name[:60]}' here.")


def _secret(name: str) -> bool:
    return name.startswith(SECRET_PREFIXES) and name not in PG_CATALOG


def _renamed(node: exp.Table, name: str) -> exp.Expr:
    if any(node.args.get(part) for part in ("sample", "pivots", "when", "changes", "version")):
        raise Failure("0A000", "This is not supported here.")
    alias = node.args.get("alias") or exp.TableAlias(
        this=exp.to_identifier(node.name.lower() or "settings", quoted=True)
    )
    node.set("this", exp.to_identifier(name, quoted=True))
    node.set("db", None)
    node.set("catalog", None)
    node.set("only", None)
    node.set("alias", alias)
    return node


_ROW_FUNCTIONS = ("generate_series", "exploding_generate_series", "unnest", "explode")


def _table_function(node: exp.Table) -> exp.Expr:
    inner = node.this
    name = inner.name.lower() if isinstance(inner, exp.Anonymous) else inner.sql_name().lower()
    if name == "pg_show_all_settings":
        return _renamed(node, prefixed("pg_settings"))
    if name.removeprefix(PREFIX) in EMPTY_TABLES:
        raise Unanswerable(f"{name}() is empty here.")
    if name not in _ROW_FUNCTIONS:
        raise _no_function(name)
    node.set("db", None)
    return node


def _dot(node: exp.Dot) -> exp.Expr:
    schema = node.this
    inner: exp.Expr = node.expression
    if isinstance(schema, exp.Identifier) and not isinstance(inner, exp.Identifier):
        # The function inside has been looked at already: it may even be a literal by now.
        if schema.name.lower() == "pg_catalog":
            return inner
        if schema.name.lower() != "information_schema":
            raise _no_function(f"{schema.name}.{inner.name}")
    # (composite).field: only functions that are empty here give composites.
    raise Unanswerable("not here")


_OPERATORS: dict[str, Callable[[Any, Any], exp.Expr]] = {
    "~": lambda a, b: exp.RegexpLike(this=a, expression=b),
    "!~": lambda a, b: exp.Not(this=exp.RegexpLike(this=a, expression=b)),
    "~*": lambda a, b: exp.RegexpILike(this=a, expression=b),
    "!~*": lambda a, b: exp.Not(this=exp.RegexpILike(this=a, expression=b)),
    "~~": lambda a, b: exp.Like(this=a, expression=b),
    "!~~": lambda a, b: exp.Not(this=exp.Like(this=a, expression=b)),
    "=": lambda a, b: exp.EQ(this=a, expression=b),
    "<>": lambda a, b: exp.NEQ(this=a, expression=b),
    "<": lambda a, b: exp.LT(this=a, expression=b),
    ">": lambda a, b: exp.GT(this=a, expression=b),
    "||": lambda a, b: exp.DPipe(this=a, expression=b),
}


def _operator(node: exp.Operator) -> exp.Expr:
    written = str(node.args.get("operator")).lower().removeprefix("pg_catalog.")
    build = _OPERATORS.get(written)
    if build is None:
        raise Failure("42883", f"The operator {written[:20]} is not available here.")
    return build(node.this, node.expression)


def _any(node: exp.Any) -> exp.Expr:
    """Return ANY(ARRAY(query)) as ANY(query): DuckDB takes the former for an array of arrays."""
    array = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    if isinstance(array, exp.Array) and len(array.expressions) == 1:
        [inner] = array.expressions
        if isinstance(inner, exp.Select):
            return exp.Any(this=exp.Subquery(this=inner.copy()))
    return node


_FUNCTION_COLUMNS = {"typinput", "typoutput", "typreceive", "typsend"}


def _function_column(node: exp.Binary) -> exp.Expr:
    """Return typreceive <> 0 as a comparison with '-', which is how no function is written."""
    left, right = node.this, node.expression
    function = isinstance(left, exp.Column) and left.name.lower() in _FUNCTION_COLUMNS
    if function and isinstance(right, exp.Literal) and right.name == "0":
        node.set("expression", exp.Literal.string("-"))
    return node


_REWRITTEN: Mapping[type[exp.Expr], Callable[[Any], exp.Expr]] = {
    exp.Dot: _dot,
    exp.Cast: recast,
    exp.Collate: lambda node: node.this,
    exp.Operator: _operator,
    exp.Any: _any,
    exp.EQ: _function_column,
    exp.NEQ: _function_column,
}


def _function(node: exp.Func, facts: RewriteFacts) -> exp.Expr:
    anonymous = isinstance(node, exp.Anonymous)
    name = (node.name if anonymous else node.sql_name()).lower()
    said = _WITHOUT_ARGUMENTS.get(name)
    if said is not None:
        return said(facts)
    if name == "current_schemas":
        system = node.this if not anonymous else next(iter(node.expressions), None)
        implicit = ["pg_catalog"] if isinstance(system, exp.Boolean) and system.this else []
        return literal([*implicit, *facts.path])
    if name in ("current_setting", "set_config"):
        return _setting(name, node, facts)
    if name == "pg_show_all_settings":
        return node  # a table, which is put in its place where it stands as one
    if name in MACROS:
        arguments = node.expressions if anonymous else list(node.iter_expressions())
        return exp.Anonymous(this=PREFIX + name, expressions=arguments)
    if name in EMPTY_TABLES or name.startswith("_pg_"):
        raise Unanswerable(f"{name} is empty here.")
    if name in NULLED or name.startswith(("pg_get_", "pg_stat_get_", "has_")):
        return exp.Null()
    if name not in PASSED:
        raise _no_function(name)
    return node


def _setting(name: str, node: exp.Func, facts: RewriteFacts) -> exp.Expr:
    written = [each for each in node.expressions if isinstance(each, exp.Literal)]
    if not written or not written[0].is_string:
        if name == "current_setting":
            return exp.Null()
        raise _no_function(name)
    setting = written[0].name.lower()
    if name == "set_config":
        # asyncpg switches jit off before it looks at types, pgAdmin sets how bytes are written;
        # neither means anything here, and nothing else may be set this way.
        if setting not in ("jit", "bytea_output") or len(written) < 2:
            raise Failure("42501", "Settings are changed with SET.", hint="SET name = value.")
        return exp.Literal.string(written[1].name[:10])
    try:
        return exp.Literal.string(facts.setting(setting))
    except Failure:
        if len(node.expressions) > 1:
            return exp.Null()
        raise


def _no_function(name: str) -> Failure:
    return Failure(
        "42883",
        f"The function {name[:60]} is not available here.",
        hint="Catalog queries may call what PostgreSQL clients need to look around.",
    )


def _user(facts: RewriteFacts) -> exp.Expr:
    return exp.Literal.string(facts.user)


def _schema(facts: RewriteFacts) -> exp.Expr:
    return exp.Literal.string(facts.path[0]) if facts.path else exp.Null()


_WITHOUT_ARGUMENTS: Mapping[str, Callable[[RewriteFacts], exp.Expr]] = {
    "current_user": _user,
    "session_user": _user,
    "user": _user,
    "current_role": _user,
    "current_schema": _schema,
    "current_database": lambda _facts: exp.Literal.string(DATABASE),
    "current_catalog": lambda _facts: exp.Literal.string(DATABASE),
    "current_version": lambda _facts: exp.Anonymous(this=f"{PREFIX}version"),
}
