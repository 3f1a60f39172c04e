"""Rewrites a question to PostgreSQL's semantics where the parser reads the same words otherwise."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from contextlib import suppress

from sqlglot import exp

from discreet.errors import InvalidInput
from discreet.server.pgwire.catalog.visible import VisibleTable
from discreet.server.pgwire.expression_types import ExpressionTypes
from discreet.server.pgwire.parameters import beside, cast_type, literal
from discreet.server.pgwire.protocol.types import (
    ARRAYS,
    BOOL,
    DATE,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    read,
)

_READ_HERE = (BOOL, DATE)
_MOMENTS = (TIMESTAMP, TIMESTAMPTZ)


def as_postgres(tree: exp.Expr, tables: Sequence[VisibleTable]) -> exp.Expr:
    """Return the tree with PostgreSQL's meaning; the tree that is given may change.

    The words stay those that were parsed, once: only nodes are exchanged. Whether a question is
    private does not hang on it: the result takes the way of every question.
    """
    types = ExpressionTypes(tables)
    for node in list(tree.walk()):
        if isinstance(node, exp.ByteString):
            node.replace(exp.Literal.string(node.name))  # E'...' is text with escapes
    fold_dates(tree)
    for node in list(tree.find_all(exp.Cast)):
        _constant_cast(node)
    for node in list(tree.find_all(exp.Literal)):
        if node.is_string:
            _quoted_constant(node, types)
    for node in list(tree.find_all(exp.Any)):
        _quoted_array(node, types)
    found = [(node, types.of(node)) for node in tree.find_all(exp.Div)]
    for node, typed in reversed(found):  # inner ones first
        if typed.whole:
            # Cutting off writes the quotient three times: not of quotients, or trees would explode.
            alone = typed.signed and node.find(exp.IntDiv, exp.Ceil) is None
            node.replace(_truncated(node) if alone else _whole(node))
    return tree


def _constant_cast(node: exp.Cast) -> None:
    """Read '{1,2}'::int[] and '2020-01-01 12:00+02'::timestamptz here: arrays and zones are ours."""
    kind, inner = cast_type(node.to), node.this
    if kind.element and isinstance(inner, exp.Array):
        node.replace(inner.copy())
    elif kind is TIMESTAMPTZ and isinstance(inner, exp.Cast) and cast_type(inner.to) is TIMESTAMP:
        node.replace(inner.copy())  # a parameter, in UTC already
    elif (kind.element or kind in _MOMENTS) and isinstance(inner, exp.Literal) and inner.is_string:
        node.replace(literal(read(inner.name.encode("utf-8", "replace"), kind, 0)))


def _quoted_constant(node: exp.Literal, types: ExpressionTypes) -> None:
    """Read 't' beside a boolean, '1960-01-01 +00' beside a date: a quotation takes the type beside it."""
    other = beside(node)
    kind = None if other is None else types.of(other).kind
    if kind in _READ_HERE and not isinstance(node.parent, exp.Cast):
        with suppress(InvalidInput):  # the planner has a better sentence
            node.replace(literal(read(node.name.encode("utf-8", "replace"), kind, 0)))


def _quoted_array(node: exp.Any, types: ExpressionTypes) -> None:
    """Read age = ANY('{20,21}') as an array of what stands on the other side."""
    inner, comparison = node.this.unnest(), node.parent
    if not (isinstance(inner, exp.Literal) and inner.is_string and comparison is not None):
        return
    kind = ARRAYS.get(types.of(comparison.this).kind.oid, ARRAYS[TEXT.oid])
    with suppress(InvalidInput):  # the planner has a better sentence
        values = literal(read(inner.name.encode("utf-8", "replace"), kind, 0))
        node.set("this", exp.Paren(this=values))


def _whole(node: exp.Div) -> exp.Expr:
    return exp.Paren(this=exp.IntDiv(this=node.this.copy(), expression=node.expression.copy()))


def _truncated(node: exp.Div) -> exp.Expr:
    """Return a quotient cut off towards 0, as PostgreSQL does: -7 / 2 is -3.

    A quotient of quotients is rounded down instead, which differs below 0 only.
    """
    below = exp.LT(this=node.copy(), expression=exp.Literal.number("0"))
    up, down = exp.Ceil(this=node.copy()), exp.Floor(this=node.copy())
    return exp.Case(ifs=[exp.If(this=below, true=up)], default=down)


_PATTERNS = {
    "YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "US": "%f",
}  # fmt: skip
_PART = re.compile("|".join(_PATTERNS))


def fold_dates(tree: exp.Expr) -> None:
    """Put the date in the place of a function of constants; what is not understood stays."""
    for node in list(tree.find_all(exp.Anonymous, exp.UnixToTime, exp.DateFromParts)):
        value = _value(node)
        if value is not None:
            node.replace(literal(value))


def _value(node: exp.Expr) -> dt.date | None:
    match node:
        case exp.DateFromParts():
            return _made([node.args.get(name) for name in ("year", "month", "day")])
        case exp.UnixToTime():  # TO_TIMESTAMP, as the parser calls it
            return _read(node.this, node.args.get("scale"))
        case exp.Anonymous() if node.name.upper() == "TO_DATE" and len(node.expressions) == 2:
            found = _read(*node.expressions)
            return None if found is None else found.date()
    return None


def _made(parts: list[exp.Expr | None]) -> dt.date | None:
    numbers = [part.name for part in parts if isinstance(part, exp.Literal) and part.is_int]
    try:
        return dt.date(*map(int, numbers)) if len(numbers) == 3 else None
    except (ValueError, OverflowError):
        return None


def _read(written: exp.Expr, form: exp.Expr | None) -> dt.datetime | None:
    if not (isinstance(written, exp.Literal) and isinstance(form, exp.Literal)):
        return None
    pattern = _PART.sub(lambda part: _PATTERNS[part.group()], form.name.upper().replace("%", "%%"))
    try:
        return dt.datetime.strptime(written.name, pattern)  # noqa: DTZ007  # dates have no zone
    except ValueError:
        return None
