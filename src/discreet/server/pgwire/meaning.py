"""Rewrites a query to PostgreSQL's semantics where the parser reads the same words otherwise; types of expressions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from discreet.core.schema import IntegerDomain
from discreet.errors import InvalidInput
from discreet.server.pgwire.catalog.tables import PREVIEW, VisibleTable
from discreet.server.pgwire.parameters import beside, cast_type, literal
from discreet.server.pgwire.types import (
    ARRAYS,
    BOOL,
    DATE,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    PgType,
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


WHOLE = (INT2, INT4, INT8)


@dataclass(frozen=True, slots=True)
class Typed:
    """The type of an expression, and whether its value can be below 0 (noise apart).

    `declared`: it is a value of a declared column, and so within that column's bounds.
    """

    kind: PgType
    signed: bool = True
    declared: bool = False

    @property
    def whole(self) -> bool:
        """Return whether PostgreSQL computes with it in whole numbers."""
        return self.kind in WHOLE


_UNKNOWN = Typed(TEXT)
_COUNT = Typed(INT8, signed=False)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_AS_INNER = (exp.Paren, exp.Window, exp.Filter, exp.Distinct, exp.Min, exp.Max, exp.Alias, exp.Abs)
_LIKE_PARTS = (exp.Case, exp.Coalesce, exp.Greatest, exp.Least, exp.If)


class ExpressionTypes:
    """Types within one question. What cannot be told is text, which changes nothing."""

    def __init__(self, tables: Sequence[VisibleTable]) -> None:
        self._tables = [seen for seen in tables if seen.schema != PREVIEW]
        self._known: dict[int, Mapping[str, Typed]] = {}

    def of(self, node: exp.Expr | None) -> Typed:
        """Return the type of an expression, which stands in its tree."""
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Literal():
                return _literal(node)
            case exp.Neg():
                return Typed(self.of(node.this).kind)
            case exp.Cast():
                return Typed(cast_type(node.to), self.of(node.this).signed)
            case exp.Count() | exp.Length():
                return _COUNT
            case exp.Sum():
                inner = self.of(node.this)
                return Typed(INT8 if inner.kind in (INT2, INT4) else NUMERIC, inner.signed)
        if isinstance(node, _ARITHMETIC):
            return self._arithmetic(node)
        if isinstance(node, _LIKE_PARTS):
            return _widest([self.of(part) for part in _values(node)])
        if isinstance(node, _AS_INNER):
            inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
            return self.of(inner)
        return _UNKNOWN

    def _arithmetic(self, node: exp.Expr) -> Typed:
        left, right = self.of(node.this), self.of(node.expression)
        if isinstance(node, exp.Sub) and left.kind is DATE and right.kind is DATE:
            return Typed(INT4)
        found = _widest([left, right])
        return Typed(found.kind, found.signed or isinstance(node, exp.Sub))

    def _column(self, node: exp.Column) -> Typed:
        name, table = node.name.lower(), node.table.lower()
        select = node.find_ancestor(exp.Select)
        while select is not None:
            for alias, columns in self._sources(select):
                if name in columns and table in ("", alias):
                    return columns[name]
            select = select.find_ancestor(exp.Select)
        return _UNKNOWN

    def _sources(self, select: exp.Select) -> Iterator[tuple[str, Mapping[str, Typed]]]:
        first = select.args.get("from_") or select.args.get("from")
        joined = [join.this for join in select.args.get("joins") or ()]
        for source in [*([first.this] if first is not None else []), *joined]:
            yield source.alias_or_name.lower(), self._columns(source)

    def _columns(self, source: exp.Expr) -> Mapping[str, Typed]:
        inner: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else source
        if isinstance(inner, exp.Table):
            cte = None if inner.db else _defined(inner)
            if cte is None:
                return self._declared(inner)
            inner = cte.this
        while isinstance(inner, exp.SetOperation):
            inner = inner.this
        return self._outputs(inner) if isinstance(inner, exp.Select) else {}

    def _outputs(self, select: exp.Select) -> Mapping[str, Typed]:
        if id(select) not in self._known:
            self._known[id(select)] = {}  # a question that names itself ends here
            found: dict[str, Typed] = {}
            for node in select.expressions:
                if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
                    for _, columns in self._sources(select):
                        found = {**columns, **found}
                else:
                    found[node.alias_or_name.lower()] = self.of(node)
            self._known[id(select)] = found
        return self._known[id(select)]

    def _declared(self, table: exp.Table) -> Mapping[str, Typed]:
        name, schema = table.name.lower(), table.db.lower()
        for seen in self._tables:
            if seen.name.lower() == name and schema in ("", "public", seen.schema.lower()):
                return {
                    column.name.lower(): Typed(
                        kind,
                        not (isinstance(column.domain, IntegerDomain) and column.domain.lower >= 0),
                        declared=True,
                    )
                    for column, kind in seen.columns
                }
        return {}


def _defined(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a bare table name means."""
    scope = table.find_ancestor(exp.Query)
    while scope is not None:
        with_ = scope.args.get("with_") or scope.args.get("with")
        for cte in with_.expressions if with_ is not None else ():
            if cte.alias.lower() == table.name.lower():
                found: exp.CTE = cte
                return found
        scope = scope.find_ancestor(exp.Query)
    return None


def _literal(node: exp.Literal) -> Typed:
    if node.is_string:
        return _UNKNOWN
    if not node.name.isdecimal():
        return Typed(NUMERIC, signed=False)
    return Typed(INT4 if int(node.name) < 2**31 else INT8, signed=False)


def _values(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Case):
        yield from (branch.args["true"] for branch in node.args.get("ifs") or ())
        if node.args.get("default") is not None:
            yield node.args["default"]
    elif isinstance(node, exp.If):
        yield from (
            node.args[part] for part in ("true", "false") if node.args.get(part) is not None
        )
    else:
        yield node.this
        yield from node.expressions


def _widest(parts: Sequence[Typed]) -> Typed:
    signed = any(part.signed for part in parts)
    if not parts or not all(part.whole for part in parts):
        return Typed(NUMERIC if parts else TEXT, signed)
    return Typed(max((part.kind for part in parts), key=WHOLE.index), signed)
