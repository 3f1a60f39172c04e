"""Evaluation of expressions in Python, exactly as SQL would and totally: values, tables and curves.

A value is NULL instead of an error. Used over public domains while planning, and over noisy values after the noise.
Never on a row. An expression over one small column is worked out value by value, as a table.

Curves are roots, logarithms, exponentials and powers over large domains: straight lines between public points.
What an engine's own LN says in its last digit depends on the machine. So an engine never computes it:
the function is worked out here at `MOST` points of the declared range at most, and the SQL goes from
point to point in straight lines, with whole numbers only. Every engine gives the same integers, and
how far they lie from the function follows from the declared range alone (`Curve.error`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import (
    FINE,
    LARGEST,
    Comparison,
    Expr,
    Operator,
    Part,
    domain_of_values,
    is_finite,
    points,
    rounded,
)
from discreet.ask.plan.functions import CurveShape
from discreet.ask.plan.kinds import SCALARS, planned
from discreet.base.schema import DateDomain, Domain, FiniteDomain
from discreet.errors import InvalidInput, QueryRefused
from discreet.privacy.kernel.functions import LONGEST_TEXT

Row = Mapping[str, Any]

LONGEST = 1 << 16
"""A number of more bits than this is NULL: chained products would double it at every step."""


def evaluate(expr: Expr, row: Row) -> Any:
    """Return the value of `expr` when each column has its value in `row`.

    Guarantee: total. Whatever the values are, the result is a value or NULL, never an exception: it
        is computed from noisy values after the charge, when no error may happen any more. Numbers
        that are not finite, not real, or longer than any use, are NULL, and so are texts.
    """
    try:
        found = _RULES[type(expr)](expr, row)
    except (ArithmeticError, ValueError, TypeError, AttributeError, InvalidInput):
        return None
    return found if _is_plain(found) else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return value.bit_length() <= LONGEST
    if value is None:
        return True
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, Fraction):
        return value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, dt.date)


def _column(node: e.ColumnRef, row: Row) -> Any:
    return row[node.name]


def _literal(node: e.Literal, _row: Row) -> Any:
    return node.value


def _arithmetic(node: e.Arithmetic, row: Row) -> Any:
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    if left is None or right is None:
        return None
    if isinstance(left, dt.date) or isinstance(right, dt.date):
        return _date_arithmetic(node.operator, left, right)
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("no arithmetic on text")  # Python would repeat it: 1e12 * 'x'
    return _OPERATORS[node.operator](left, right)


def _date_arithmetic(operator: Operator, left: Any, right: Any) -> Any:
    if isinstance(left, dt.date) and isinstance(right, dt.date):
        return (left - right).days if operator is Operator.SUBTRACT else None
    day, number = (left, right) if isinstance(left, dt.date) else (right, left)
    sign = -1 if operator is Operator.SUBTRACT else 1
    return day + dt.timedelta(days=sign * int(number))


def _divide(left: Any, right: Any) -> Any:
    if not right:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return Fraction(left) / Fraction(right)


_OPERATORS: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.ADD: lambda left, right: left + right,
    Operator.SUBTRACT: lambda left, right: left - right,
    Operator.MULTIPLY: lambda left, right: left * right,
    Operator.DIVIDE: _divide,
    Operator.FLOOR_DIVIDE: lambda left, right: _whole(left, right) if right else None,
    Operator.MODULO: lambda left, right: left - right * _whole(left, right) if right else None,
}


def _whole(left: Any, right: Any) -> Any:
    if type(left) is int and type(right) is int:
        return left // right
    if isinstance(left, float) or isinstance(right, float):
        return math.floor(float(left) / float(right))
    return int(Fraction(left) // Fraction(right))  # exact where left / right would round to a float


def _negate(node: e.Negate, row: Row) -> Any:
    value = evaluate(node.operand, row)
    return None if value is None else -value


def _compare(node: e.Compare, row: Row) -> bool | None:
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    if left is None or right is None:
        return None
    return _COMPARISONS[node.comparison](left, right)


_COMPARISONS: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.EQUAL: lambda left, right: bool(left == right),
    Comparison.NOT_EQUAL: lambda left, right: bool(left != right),
    Comparison.LESS: lambda left, right: bool(left < right),
    Comparison.LESS_EQUAL: lambda left, right: bool(left <= right),
    Comparison.GREATER: lambda left, right: bool(left > right),
    Comparison.GREATER_EQUAL: lambda left, right: bool(left >= right),
}


def _and(node: e.And, row: Row) -> bool | None:
    values = [evaluate(operand, row) for operand in node.operands]
    return False if any(v is False for v in values) else None if None in values else True


def _or(node: e.Or, row: Row) -> bool | None:
    values = [evaluate(operand, row) for operand in node.operands]
    return True if any(v is True for v in values) else None if None in values else False


def _not(node: e.Not, row: Row) -> bool | None:
    value = evaluate(node.operand, row)
    return None if value is None else not value


def _is_null(node: e.IsNull, row: Row) -> bool:
    return evaluate(node.operand, row) is None


def _in(node: e.In, row: Row) -> bool | None:
    value = evaluate(node.operand, row)
    if value is None:
        return None
    if value in node.values:
        return True
    return None if None in node.values else False


def is_like(text: str, pattern: str) -> bool:
    """Return whether a text fits a LIKE pattern; in at most length times length steps.

    Not by a regular expression: that tries every way to share a text among several %.
    """
    at = place = 0
    star, mark = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            star, mark = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif star >= 0:
            mark += 1
            at, place = mark, star + 1
        else:
            return False
    return all(char == "%" for char in pattern[place:])


def _like(node: e.Like, row: Row) -> bool | None:
    value = evaluate(node.operand, row)
    if value is None:
        return None
    text, pattern = str(value), node.pattern
    return (
        is_like(text.casefold(), pattern.casefold()) if node.ignore_case else is_like(text, pattern)
    )


def _case(node: e.Case, row: Row) -> Any:
    for condition, value in node.branches:
        if evaluate(condition, row) is True:
            return evaluate(value, row)
    return evaluate(node.otherwise, row)


def _extreme(node: e.Extreme, row: Row) -> Any:
    values = [evaluate(operand, row) for operand in node.operands]
    if None in values:
        return None
    return max(values) if node.greatest else min(values)


def _coalesce(node: e.Coalesce, row: Row) -> Any:
    for operand in node.operands:
        value = evaluate(operand, row)
        if value is not None:
            return value
    return None


def _concat(node: e.Concat, row: Row) -> str | None:
    values = [evaluate(operand, row) for operand in node.operands]
    return None if None in values else "".join(map(str, values))


def _date_part(node: e.DatePart, row: Row) -> int | None:
    value = evaluate(node.operand, row)
    return None if value is None else part_of(node.part, value)


def part_of(part: Part, day: dt.date) -> int:
    """Return one part of a date; weekdays count from Sunday = 0."""
    match part:
        case Part.YEAR:
            return day.year
        case Part.QUARTER:
            return (day.month + 2) // 3
        case Part.MONTH:
            return day.month
        case Part.DAY:
            return day.day
        case Part.WEEKDAY:
            return day.isoweekday() % 7
        case Part.WEEK:
            return day.isocalendar().week
        case Part.DAY_OF_YEAR:
            return day.timetuple().tm_yday
        case _:
            # A day has no hours: not an attribute of it, so that it is NULL.
            return int(getattr(day, part.value))


def _call(node: e.Call, row: Row) -> Any:
    value = evaluate(node.operand, row)
    if value is None:
        return None
    return SCALARS[node.function].compute(value, *node.options)


_RULES: dict[type, Callable[[Any, Row], Any]] = {
    e.ColumnRef: _column,
    e.Literal: _literal,
    e.Arithmetic: _arithmetic,
    e.Negate: _negate,
    e.Compare: _compare,
    e.And: _and,
    e.Or: _or,
    e.Not: _not,
    e.IsNull: _is_null,
    e.In: _in,
    e.Like: _like,
    e.Case: _case,
    e.Extreme: _extreme,
    e.Coalesce: _coalesce,
    e.Concat: _concat,
    e.DatePart: _date_part,
    e.Call: _call,
}


TABULATE = 10_000
"""An expression over one column with at most this many values is evaluated value by value."""

MOST_DAYS = 50_000
"""The same for dates: 137 years, since a run of days with one value is written as one range."""

MOST_WORK = 400_000
"""No more than so many nodes are evaluated for one table: planning takes a bounded time."""

PLAIN_TABLE = 1_000
"""What plain SQL computes is tabulated for so many values only: its rules are close, and quick."""

PLAIN_CALLS = frozenset(
    name
    for name, row in SCALARS.items()
    if row.takes == "number" and (row.sql or getattr(row, "rewritten", None))
)
"""Functions of numbers that plain SQL computes exactly."""

Fields: TypeAlias = Mapping[str, Domain]


def tabulated(expr: Expr, fields: Fields) -> list[Any] | None:
    """Return the value of `expr` for NULL and then for each value of its one small column.

    None where it reads several columns, none, or one that is too large to list.
    """
    name = small_column(expr, fields)
    if name is None:
        return None
    return list(_tables(ExprKey(expr), name, fields[name]))


def small_column(expr: Expr, fields: Fields) -> str | None:
    """Return the one column that `expr` reads, if it is small enough to list its values."""
    names = e.columns_of(expr)
    if len(names) != 1:
        return None
    (name,) = names
    domain = fields[name]
    most = MOST_DAYS if isinstance(domain, DateDomain) else TABULATE
    if not is_finite(domain) or domain.size > most:  # type: ignore[union-attr]  # finite: has size
        return None
    if domain.size * e.size(expr) > MOST_WORK:  # type: ignore[union-attr]  # finite: has size
        return None
    return name


class ExprKey:
    """An expression that equals only one written the same: Python holds 1 and True for equal."""

    __slots__ = ("expr", "text")

    def __init__(self, expr: Expr) -> None:
        self.expr = expr
        # Short, since many are kept: a long expression is written out in a megabyte.
        self.text = hashlib.sha256(repr(expr).encode("utf-8", "surrogatepass")).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExprKey) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=256)
def _tables(written: ExprKey, name: str, domain: FiniteDomain) -> tuple[Any, ...]:
    # Planning and rendering ask for the same few tables a hundred times.
    found = (evaluate(written.expr, {name: value}) for value in (None, *points(domain)))
    return tuple(rounded(value) if isinstance(value, float) else value for value in found)


@lru_cache(maxsize=1024)
def least_domain(written: ExprKey, name: str, domain: FiniteDomain) -> Domain:
    """Return the least domain that holds all values of an expression over one small column."""
    return domain_of_values(list(_tables(written, name, domain)))


def computes(expr: Expr) -> bool:
    """Return whether plain SQL beats a lookup table: everything but functions of text and dates."""
    return not any(_looked_up(node) for node in e.walk(expr))


def _looked_up(node: Expr) -> bool:
    match node:
        case e.Call(function=function, options=options):
            return function not in PLAIN_CALLS or bool(options)
        case e.Arithmetic(operator=Operator.FLOOR_DIVIDE | Operator.MODULO, right=right):
            return not isinstance(right, e.Literal)
        case _:
            return isinstance(node, e.Like)


MOST = 256
"""Pieces of one function, and its last point: the lines miss it by less than a 10,000th of its range."""

_DIGITS = 9
"""Digits of the greatest value that count; never more than six behind the point."""


@dataclass(frozen=True, slots=True)
class CurvePiece:
    """From `first` on the value is `value + (y - first) * rise // run`, all in whole steps."""

    first: int
    value: int
    rise: int
    run: int


@dataclass(frozen=True, slots=True)
class Curve:
    """A function over whole steps from `pieces[0].first` on; NULL before.

    `lower` and `upper` are its ends in whole numbers of `step`; `error` is the greatest distance to
    the function itself.
    """

    pieces: tuple[CurvePiece, ...]
    lower: int
    upper: int
    step: Fraction
    error: float


CURVES = frozenset(
    name for name in SCALARS if (row := planned(name)) is not None and row.curve is not None
)
"""What may be drawn; a power of 0 or 1 is none."""


def _shape(function: str, exponent: Fraction | None) -> CurveShape:
    row = planned(function)
    found = None if row is None else row.curve
    assert found is not None, "asked of curves only"
    if isinstance(found, CurveShape):
        return found
    assert exponent is not None, "a function of its exponent"
    return found(exponent)


@lru_cache(maxsize=256)
def curve(
    function: str,
    exponent: Fraction | None,
    *,
    low: Fraction,
    high: Fraction,
    step: Fraction,
) -> Curve | None:
    """Return a function over low, low + step, ..., high as straight pieces; None where it is NULL."""
    shape = _shape(function, exponent)
    if function == "power" and low < 0 and exponent is not None and exponent.denominator == 1:
        raise QueryRefused(
            f"A power of {exponent} is drawn over numbers from 0 on, and these begin below.",
            hint="Use GREATEST(x, 0) or ABS(x), or write the product out: x * x * x.",
            construct="power",
        )
    first, last = int(low / step), int(high / step)
    if shape.from_zero is not None:
        first = max(first, 0 if shape.from_zero else 1)
    if last < first:
        return None
    try:
        return _drawn(shape, first, last, step)
    except (OverflowError, ZeroDivisionError):
        raise _too_large() from None


def _drawn(shape: CurveShape, first: int, last: int, step: Fraction) -> Curve:
    size = float(step)
    ends = [shape.value(at * size) for at in (first, last)]
    fine = _fine(max(map(abs, ends)))
    points = _points(shape, first, last, size)
    values = {at: round(Fraction(shape.value(at * size)) / fine) for at in points}
    pieces = [
        # Nothing lies between two neighbours.
        CurvePiece(one, values[one], values[two] - values[one] if two - one > 1 else 0, two - one)
        for one, two in pairwise(points)
    ]
    pieces.append(CurvePiece(last, values[last], 0, 1))
    reach = last - first
    if any(abs(piece.rise) * reach >= LARGEST for piece in pieces):
        raise _too_large()
    whole = sorted((values[first], values[last]))
    missed = max(_missed(shape, piece, size) for piece in pieces)
    return Curve(tuple(pieces), whole[0], whole[1], fine, missed + 1.5 * float(fine))


def _fine(most: float) -> Fraction:
    """Return the step of the values: a millionth, or nine digits of the greatest."""
    if most <= FINE / 1_000:
        return Fraction(1, FINE)
    return Fraction(10) ** (math.ceil(math.log10(most)) - _DIGITS)


def _points(shape: CurveShape, first: int, last: int, size: float) -> list[int]:
    """Return at most `MOST` + 1 whole steps, closer where the function bends more."""
    if last - first <= MOST:
        return list(range(first, last + 1))
    span = abs(shape.even(last * size) - shape.even(first * size))
    narrow, wide = span / (2 * MOST), span / 8
    found = _walk(shape, first, last, size, wide)
    for _ in range(40):
        middle = math.sqrt(narrow * wide)
        tried = _walk(shape, first, last, size, middle)
        if len(tried) <= MOST + 1:
            found, wide = tried, middle
        else:
            narrow = middle
    return found


def _walk(shape: CurveShape, first: int, last: int, size: float, by: float) -> list[int]:
    """Return steps `by` apart on the even scale; cut short where they are too many."""
    found, at = [first], first
    upwards = shape.even(last * size) > shape.even(first * size)
    while at < last and len(found) <= MOST + 1:
        even = shape.even(at * size) + (by if upwards else -by)
        beyond = even <= 0 and not upwards
        ahead = last if beyond else min(shape.back(even) / size, float(last))
        at = min(max(at + 1, math.floor(ahead)), last)
        found.append(at)
    return found if at == last else [*found, last, last]


def _missed(shape: CurveShape, piece: CurvePiece, size: float) -> float:
    """Return how far the line of a piece is from the function where it is farthest.

    Between two points of a curve that bends one way the distance rises, then falls.
    """
    if piece.run == 1:
        return 0.0
    one, two = piece.first * size, (piece.first + piece.run) * size
    start, end = shape.value(one), shape.value(two)

    def distance(at: float) -> float:
        return abs(shape.value(at) - start - (end - start) * (at - one) / (two - one))

    left, right = one, two
    for _ in range(25):
        near, far = left + (right - left) / 3, right - (right - left) / 3
        if distance(near) < distance(far):
            left = near
        else:
            right = far
    return 1.01 * distance((left + right) / 2)


def _too_large() -> QueryRefused:
    return QueryRefused(
        "This expression can become too large to be summed exactly.",
        hint="Narrow the range with WHERE or LEAST, or use a coarser step.",
        construct="overflow",
    )


def outermost_curves(expr: Expr, fields: Fields) -> list[e.Call]:
    """Return the curves in an expression that are drawn, not tabulated, and in no other one."""
    if small_column(expr, fields) is not None:
        return []
    if isinstance(expr, e.Call) and expr.function in CURVES:
        return [expr]
    return [found for child in e.children(expr) for found in outermost_curves(child, fields)]


def replaced(expr: Expr, by: Mapping[Expr, Expr]) -> Expr:
    """Return an expression with some of its parts replaced by others."""
    if expr in by:
        return by[expr]
    if not by or isinstance(expr, e.ColumnRef | e.Literal):
        return expr
    return e.rebuilt(expr, lambda part: replaced(part, by))
