"""Dates in SQL to plan expressions: parts, whole months, differences, moving by an interval."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate
from discreet.plan.expr import Expr, Operator, Part
from discreet.plan.functions import from_postgres
from discreet.sql.refuse import refusal

Value = Callable[[exp.Expr], Expr]
"""Turns an operand into a plan expression."""


def moved(day: Expr, interval: exp.Interval, operator: Operator) -> Expr:
    """Return a day moved by an interval."""
    written = str(getattr(interval.this, "name", "")).strip()
    unit = str(interval.unit or "")
    if not unit and " " in written:
        written, _, unit = written.partition(" ")
    unit = (unit or "day").strip().lower().rstrip("s")
    if unit not in {"day", "week", "month", "quarter", "year"}:
        raise refusal("clause", what=f"INTERVAL in {unit[:20]}s")
    try:
        amount = int(written) * (-1 if operator is Operator.SUBTRACT else 1)
    except ValueError:
        raise refusal("clause", what=f"An interval of '{written[:20]}' {unit}s") from None
    if isinstance(day, e.Literal) and isinstance(day.value, str):
        day = constant_day(day.value)
    found = e.Call("move_date", day, (amount, unit))
    if isinstance(day, e.Literal) and evaluate(found, {}) is None:
        raise refusal("clause", what=f"An interval of '{written[:20]}' {unit}s")
    return found


def constant_day(value: Any) -> Expr:
    """Return the day that a constant says."""
    day = value if isinstance(value, dt.date) else parse_date(value)
    if day is None and value is not None:
        raise refusal("clause", what=f"The date '{str(value)[:20]}' (write YYYY-MM-DD)")
    return e.Literal(day)


def parse_date(value: Any) -> dt.date | None:
    """Return the day written as YYYY-MM-DD, None if it is not one."""
    try:
        written = dt.datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    if written.time() != dt.time():
        raise refusal("time of day")
    return written.date()


_PARTS = {part.value: part for part in Part} | {
    **dict.fromkeys(("dayofweek", "weekday"), Part.WEEKDAY),
    "dayofyear": Part.DAY_OF_YEAR,
    "weekofyear": Part.WEEK,
}


def part_named(name: str, operand: Expr) -> Expr:
    """Return a part of a date by its name."""
    part = _PARTS.get(name.lower())
    if part is None:
        raise refusal("function", what=f"the date part {name[:20]}")
    return e.DatePart(part, operand)


def _extract(node: exp.Extract, value: Value) -> Expr:
    return part_named(str(node.this.name), value(node.expression))


def _part(part: Part) -> Rule:
    return lambda node, value: e.DatePart(part, value(node.this))


def _truncate(node: exp.TimestampTrunc | exp.DateTrunc, value: Value) -> Expr:
    unit = str(node.args["unit"].name).lower()
    if unit not in {"year", "quarter", "month", "week", "day"}:
        raise refusal("function", what=f"DATE_TRUNC to {unit[:20]}")
    return e.Call("truncate_date", value(node.this), (unit,))


def _date_difference(node: exp.DateDiff, value: Value) -> Expr:
    """Count the beginnings of years, months, ... between two days."""
    left, right = value(node.this), value(node.expression)
    unit = str(node.args.get("unit") or "day").lower().rstrip("s")
    if unit == "day":
        return e.Arithmetic(Operator.SUBTRACT, left, right)
    if unit == "week":
        days = [e.Call("truncate_date", side, ("week",)) for side in (left, right)]
        apart = e.Arithmetic(Operator.SUBTRACT, *days)
        return e.Arithmetic(Operator.FLOOR_DIVIDE, apart, e.Literal(7))
    if unit not in _IN_A_YEAR:
        raise refusal("clause", what=f"DATEDIFF in {unit[:20]}s")
    return e.Arithmetic(Operator.SUBTRACT, _counted(left, unit), _counted(right, unit))


_IN_A_YEAR = {"year": 1, "quarter": 4, "month": 12}


def _counted(day: Expr, unit: str) -> Expr:
    """Return how many years, quarters or months began up to a day."""
    years: Expr = e.DatePart(Part.YEAR, day)
    if unit == "year":
        return years
    whole = e.Arithmetic(Operator.MULTIPLY, years, e.Literal(_IN_A_YEAR[unit]))
    return e.Arithmetic(Operator.ADD, whole, e.DatePart(Part(unit), day))


def today() -> Expr:
    """Return the day on which a question is asked, in UTC: a constant like any other."""
    return e.Literal(dt.datetime.now(dt.UTC).date())


def _formatted(node: exp.TimeToStr | exp.ToChar, value: Value) -> Expr:
    spelling = node.args.get("format")
    if not isinstance(spelling, exp.Literal) or not spelling.is_string:
        raise refusal("clause", what="A date written by anything but a constant pattern")
    text = str(spelling.this)
    if isinstance(node, exp.ToChar):
        text = from_postgres(text)
    day = value(node.this)
    found = e.Call("format_date", day, (text,))
    if evaluate(e.Call("format_date", e.Literal(dt.date(2020, 1, 1)), (text,)), {}) is None:
        raise refusal("formatted", what=f"The pattern '{text[:20]}'")
    return found


def _named_day(pattern: str) -> Rule:
    return lambda node, value: e.Call("format_date", value(node.this), (pattern,))


Rule = Callable[[Any, Value], Expr]

DAYS: dict[type[exp.Expr], Rule] = {
    exp.Extract: _extract,
    exp.Year: _part(Part.YEAR),
    exp.Quarter: _part(Part.QUARTER),
    exp.Month: _part(Part.MONTH),
    exp.Day: _part(Part.DAY),
    exp.DayOfMonth: _part(Part.DAY),
    exp.DayOfWeek: _part(Part.WEEKDAY),
    exp.DayOfYear: _part(Part.DAY_OF_YEAR),
    exp.Week: _part(Part.WEEK),
    exp.WeekOfYear: _part(Part.WEEK),
    exp.TimestampTrunc: _truncate,
    exp.DateTrunc: _truncate,
    exp.DateDiff: _date_difference,
    exp.TimeToStr: _formatted,
    exp.ToChar: _formatted,
    exp.Dayname: _named_day("%A"),
    exp.Monthname: _named_day("%B"),
    exp.CurrentDate: lambda _node, _value: today(),
    exp.CurrentTimestamp: lambda _node, _value: today(),
}
"""What may be done with dates."""
