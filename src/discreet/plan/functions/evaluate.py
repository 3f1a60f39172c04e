"""Evaluate an expression in Python, exactly as SQL would, and totally: NULL instead of an error.

Used over public domains while planning, and over noisy values after the noise. Never on a row.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidInput
from discreet.kernel.functions import LONGEST_TEXT
from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr, Operator, Part
from discreet.plan.functions.registry import SCALARS

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
