"""Read constants the way the column beside them is typed: '1994-01-01' beside a date is a date."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.core.numbers import plain, to_fraction
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import DiscreetError
from discreet.plan import expr as e
from discreet.plan.evaluate import Fields
from discreet.plan.expr import Comparison, Expr
from discreet.sql.times.clocks import compared, listed, of_clock, of_time
from discreet.sql.times.days import parse_date

_SOME_DAYS = DateDomain(dt.date(1, 1, 1), dt.date(9999, 12, 31))
"""What a constant is read as beside something that was cast to a date."""


def coerce(expr: Expr, fields: Fields) -> Expr:
    """Return `expr` with text constants turned into the type of the column they are compared to."""
    rebuilt = e.rebuilt(expr, lambda part: coerce(part, fields))
    timed = of_clock(rebuilt, fields)
    if timed is not None:
        return timed
    match rebuilt:
        case e.Compare(left=left, right=right, comparison=comparison):
            at_time = of_time(rebuilt, fields)
            if at_time is not None:
                return at_time
            assert isinstance(expr, e.Compare)
            days = _is_day(expr.left) or _is_day(expr.right)
            one = _SOME_DAYS if days else _domain(left, fields)
            two = _SOME_DAYS if days else _domain(right, fields)
            if comparison not in _SAME:
                left, one = _as_number(left, one, right)
                right, two = _as_number(right, two, left)
            left, right = _constant(left, two), _constant(right, one)
            return compared(replace(rebuilt, left=left, right=right), fields, by_day=days)
        case e.In(operand=operand, values=values):
            assert isinstance(expr, e.In)
            days = _is_day(expr.operand)
            domain = _SOME_DAYS if days else _domain(operand, fields)
            found = tuple(_value(value, domain) for value in values)
            return listed(replace(rebuilt, values=found), fields, by_day=days)
        case _:
            return rebuilt


def _is_day(written: Expr) -> bool:
    """Return whether an operand was cast to a date: of a timestamp its day, and no time."""
    return isinstance(written, e.Call) and written.function == "day"


def _domain(expr: Expr, fields: Fields) -> Domain | None:
    # Only a column, or its month, lends its type: that is what people mean by a date as text.
    if isinstance(expr, e.Call) and expr.function in {"truncate_date", "move_date"}:
        return _domain(expr.operand, fields)
    return fields.get(expr.name) if isinstance(expr, e.ColumnRef) else None


_SAME = {Comparison.EQUAL, Comparison.NOT_EQUAL}


def _as_number(expr: Expr, domain: Domain | None, other: Expr) -> tuple[Expr, Domain | None]:
    """Return a category of numbers as numbers, where it is compared with one: educ < 12."""
    if not isinstance(domain, CategoryDomain) or not isinstance(other, e.Literal):
        return expr, domain
    if not isinstance(other.value, int | Fraction) or not all(map(_is_number, domain.values)):
        return expr, domain
    return e.Call("number", expr), None


def _is_number(text: str) -> bool:
    try:
        to_fraction(text)
    except DiscreetError:
        return False
    return True


def _constant(expr: Expr, domain: Domain | None) -> Expr:
    return e.Literal(_value(expr.value, domain)) if isinstance(expr, e.Literal) else expr


def _spelled(value: Any, domain: CategoryDomain) -> Any:
    """Return a number or truth value as the declared text that says the same: 1 as '1'."""
    if isinstance(value, bool):
        said = ("1", "true", "t", "yes", "y") if value else ("0", "false", "f", "no", "n")
        return next((text for text in domain.values if text.lower() in said), value)
    if isinstance(value, int | Fraction):
        known = [text for text in domain.values if _is_number(text) and to_fraction(text) == value]
        return known[0] if known else plain(Fraction(value))
    return value


_TRUTHS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        return _TRUTHS.get(value.lower(), value)
    number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    return bool(value) if number and value in {0, 1} else value


def _value(value: Any, domain: Domain | None) -> Any:
    if isinstance(domain, CategoryDomain):
        return _spelled(value, domain)
    if isinstance(domain, TextDomain) and isinstance(value, int | Fraction):
        return plain(Fraction(value))
    if isinstance(domain, BooleanDomain):
        return _truth(value)
    if not isinstance(value, str):
        return value
    if isinstance(domain, DateDomain | TimestampDomain):
        day = parse_date(value)
        return value if day is None else day
    if isinstance(domain, IntegerDomain | NumberDomain):
        try:
            return to_fraction(value)
        except DiscreetError:
            return value
    return value
