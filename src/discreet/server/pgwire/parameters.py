"""Parameters of a statement: their types, their values as literals; and the names of a result's columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from discreet.errors import InvalidInput
from discreet.server.pgwire.types import (
    ALL,
    ARRAYS,
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    PgType,
)

_TWO_SIDED = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Between, exp.In,
)  # fmt: skip
_CONSTANTS = (exp.Placeholder, exp.Parameter, exp.Literal)
_CASTS = {
    "BOOLEAN": BOOL, "SMALLINT": INT2, "INT": INT4, "BIGINT": INT8, "FLOAT": FLOAT8,
    "DOUBLE": FLOAT8, "DECIMAL": NUMERIC, "DATE": DATE, "TIMESTAMP": TIMESTAMP,
    "TIMESTAMPTZ": TIMESTAMPTZ, "OID": OID, "REGCLASS": TEXT,
}  # fmt: skip
_SAMPLES: dict[PgType, Any] = {
    BOOL: True, INT2: 1, INT4: 1, INT8: 1, OID: 1, FLOAT8: Decimal(1), NUMERIC: Decimal(1),
    DATE: dt.date(2000, 1, 1), TIMESTAMP: dt.datetime(2000, 1, 1),  # noqa: DTZ001  # no zone here
    TIMESTAMPTZ: dt.datetime(2000, 1, 1),  # noqa: DTZ001  # in UTC
}  # fmt: skip


def placeholders(tree: exp.Expr) -> dict[int, list[exp.Expr]]:
    """Return the places of $1, $2 ... in the tree, by number."""
    found: dict[int, list[exp.Expr]] = {}
    for node in tree.find_all(exp.Placeholder, exp.Parameter):
        inner = node.this
        written = inner.name if isinstance(inner, exp.Expr) else str(inner)
        if not written.isdecimal() or not 1 <= int(written[:9]) <= 1000:
            raise InvalidInput("Parameters are written $1, $2 and so on.")
        found.setdefault(int(written), []).append(node)
    return found


def parameter_types(
    tree: exp.Expr, declared: Sequence[int], columns: Mapping[str, PgType]
) -> tuple[PgType, ...]:
    """Return the type of each parameter: as declared, else as what it is compared with."""
    found = placeholders(tree)
    count = max([0, len(declared), *found])
    types = []
    for number in range(1, count + 1):
        oid = declared[number - 1] if number <= len(declared) else 0
        if oid in ALL and oid != UNKNOWN.oid:
            types.append(ALL[oid])
        elif oid and oid != UNKNOWN.oid:
            raise InvalidInput(f"Parameters of type {oid} are not taken.", hint="Send text.")
        else:
            places = found.get(number, [])
            types.append(_inferred(places[0], columns) if places else TEXT)
    return tuple(types)


def _inferred(node: exp.Expr, columns: Mapping[str, PgType]) -> PgType:
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Neg | exp.Tuple):
        parent = parent.parent
    if isinstance(parent, exp.Cast):
        return cast_type(parent.to)
    if isinstance(parent, exp.Limit | exp.Offset):
        return INT8
    if isinstance(parent, exp.Any):
        compared = parent.parent.this if isinstance(parent.parent, exp.EQ) else None
        return ARRAYS.get(_of(compared, columns).oid, ARRAYS[TEXT.oid])
    other = beside(node)
    return TEXT if other is None else _of(other, columns)


def beside(node: exp.Expr) -> exp.Expr | None:
    """Return what a constant is compared with or computed with, if anything."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Neg | exp.Tuple):
        node, parent = parent, parent.parent
    if isinstance(parent, _TWO_SIDED):
        for other in parent.iter_expressions():
            if other is not node and not isinstance(other, _CONSTANTS):
                return other
    return None


def _of(node: exp.Expr | None, columns: Mapping[str, PgType]) -> PgType:
    while isinstance(node, exp.Paren | exp.Neg):
        node = node.this
    if isinstance(node, exp.Column):
        return columns.get(node.name.lower(), TEXT)
    if isinstance(node, exp.Cast):
        return cast_type(node.to)
    if isinstance(node, exp.Count):
        return INT8
    if isinstance(node, exp.AggFunc | exp.Binary):
        return FLOAT8
    if isinstance(node, exp.Literal) and not node.is_string:
        return NUMERIC
    return TEXT


def cast_type(target: exp.Expr) -> PgType:
    """Return the type that a cast gives."""
    written = target.sql("postgres").upper()
    if written.endswith("[]"):
        base = _CASTS.get(_plain(written[:-2]), TEXT)
        return ARRAYS.get(base.oid, ARRAYS[TEXT.oid])
    return _CASTS.get(_plain(written), TEXT)


def _plain(written: str) -> str:
    name = written.replace('"', "").removeprefix("PG_CATALOG.").split("(")[0]
    spellings = {"INTEGER": "INT", "INT4": "INT", "INT8": "BIGINT", "INT2": "SMALLINT"}
    spellings |= {"DOUBLE PRECISION": "DOUBLE", "REAL": "FLOAT", "NUMERIC": "DECIMAL"}
    spellings |= {"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ", "TIMESTAMPNTZ": "TIMESTAMP"}
    return spellings.get(name, name)


def filled(tree: exp.Expr, values: Sequence[Any]) -> exp.Expr:
    """Return a copy of the tree in which each parameter is a literal.

    Guarantee: values enter the parsed tree, never the text, so none of them can become syntax.
    """
    copy = tree.copy()
    for number, nodes in placeholders(copy).items():
        if number > len(values):
            raise InvalidInput(f"Parameter ${number} has no value.")
        for node in nodes:
            node.replace(literal(values[number - 1]))
    return copy


def samples(types: Sequence[PgType]) -> list[Any]:
    """Return some value of each type, for describing a statement before it has values."""
    return [[] if kind.element else _SAMPLES.get(kind, "") for kind in types]


def literal(value: Any) -> exp.Expr:
    """Return a value as a node of the tree."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() | Decimal():
            written = format(abs(value), "f") if isinstance(value, Decimal) else str(abs(value))
            number: exp.Expr = exp.Literal.number(written)
            return exp.Neg(this=number) if value < 0 else number
        case dt.datetime():
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case dt.date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case list():
            return exp.Array(expressions=[literal(each) for each in value])
        case _:
            return exp.Literal.string(str(value))


def name_outputs(tree: exp.Expr) -> None:
    """Give every output column of the tree the name that PostgreSQL would give it."""
    select = _first_select(tree)
    if select is None:
        return
    named: list[exp.Expr] = []
    for node in select.expressions:
        if isinstance(node, exp.Alias):
            alias = node.args["alias"]
            if isinstance(alias, exp.Identifier) and not alias.quoted:
                alias.set("this", alias.name.lower())
            alias.set("quoted", True)
            named.append(node)
        elif isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            named.append(node)
        else:
            named.append(exp.alias_(node.copy(), output_name(node), quoted=True))
    select.set("expressions", named)


def output_names(tree: exp.Expr) -> list[str] | None:
    """Return the names of the result's columns, None where a * hides them."""
    select = _first_select(tree)
    if select is None or any(isinstance(node, exp.Star) for node in select.expressions):
        return None
    if any(isinstance(n, exp.Column) and isinstance(n.this, exp.Star) for n in select.expressions):
        return None
    return [
        node.alias if isinstance(node, exp.Alias) else output_name(node)
        for node in select.expressions
    ]


def _first_select(tree: exp.Expr) -> exp.Select | None:
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    return tree if isinstance(tree, exp.Select) else None


def output_name(node: exp.Expr) -> str:
    """Return the name of an output column that has no alias."""
    if isinstance(node, exp.Column):
        quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
        return node.name if quoted else node.name.lower()
    if isinstance(node, exp.Dot):
        return output_name(node.expression)
    if isinstance(node, exp.Identifier):
        return node.name
    if isinstance(node, exp.Paren | exp.Collate | exp.Bracket):
        return output_name(node.this)
    if isinstance(node, exp.Cast):
        inner = output_name(node.this)
        return node.to.sql("postgres").lower() if inner == "?column?" else inner
    if isinstance(node, exp.Subquery):
        select = _first_select(node)
        return output_name(select.expressions[0].unalias()) if select else "?column?"
    if isinstance(node, exp.Connector | exp.Binary | exp.Literal):
        return "?column?"
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.Func):
        return _SPELLED.get(node.sql_name().lower(), node.sql_name().lower())
    return "?column?"


_SPELLED = {"current_version": "version", "group_concat": "string_agg", "explode": "unnest"}
