"""Dates in SQL to plan expressions: parts, whole months, differences, moving by an interval."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Comparison, Expr, Operator, Part
from discreet.ask.plan.functions import LENGTHS, SECONDS_OF, from_postgres
from discreet.ask.sql.refuse import refusal

ToExpression = Callable[[exp.Expr], Expr]
"""Turns an operand into a plan expression."""
Rule = Callable[[Any, ToExpression], Expr]


_CALENDAR = {"month", "quarter", "year"}


def moved(day: Expr, interval: exp.Interval, operator: Operator) -> Expr:
    """Return a day, or a moment, moved by an interval."""
    written, unit = _interval(interval)
    if unit not in _CALENDAR | LENGTHS.keys():
        raise refusal("clause", what=f"INTERVAL in {unit[:20]}s")
    amount = _amount(written, unit) * (-1 if operator is Operator.SUBTRACT else 1)
    if isinstance(day, e.Literal) and isinstance(day.value, str):
        day = constant_day(day.value)
    found = e.Call("move_date", day, (amount, unit))
    if isinstance(day, e.Literal) and evaluate(found, {}) is None:
        raise refusal("clause", what=f"An interval of '{written[:20]}' {unit}s")
    return found


def is_short(interval: exp.Interval) -> bool:
    """Return whether an interval is one of hours, minutes or seconds."""
    return _interval(interval)[1] in SECONDS_OF


def length_of(interval: exp.Interval) -> int:
    """Return the seconds of an interval that always has as many, or refuse it."""
    written, unit = _interval(interval)
    if unit not in LENGTHS:
        raise refusal("clause", what=f"INTERVAL in {unit[:20]}s here")
    return _amount(written, unit) * LENGTHS[unit]


def _interval(interval: exp.Interval) -> tuple[str, str]:
    written = str(getattr(interval.this, "name", "")).strip()
    unit = str(interval.unit or "")
    if not unit and " " in written:
        written, _, unit = written.partition(" ")
    return written, (unit or "day").strip().lower().rstrip("s")


def _amount(written: str, unit: str) -> int:
    try:
        return int(written)
    except ValueError:
        raise refusal("clause", what=f"An interval of '{written[:20]}' {unit}s") from None


def constant_day(value: Any) -> Expr:
    """Return the day that a constant says."""
    day = value if isinstance(value, dt.date) else parse_date(value)
    if day is None and value is not None:
        raise refusal("clause", what=f"The date '{str(value)[:20]}' (write YYYY-MM-DD)")
    return e.Literal(day)


def parse_date(value: Any) -> dt.date | None:
    """Return the day written as YYYY-MM-DD, or the moment where a time follows; None for others."""
    try:
        written = dt.datetime.fromisoformat(str(value).strip())
        if written.tzinfo is not None:
            written = written.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return written.date() if written.time() == dt.time() else written


_PARTS = {part.value: part for part in Part} | {
    **dict.fromkeys(("dayofweek", "weekday"), Part.WEEKDAY),
    "dayofyear": Part.DAY_OF_YEAR,
    "weekofyear": Part.WEEK,
}


def part_named(name: str, operand: Expr) -> Expr:
    """Return a part of a date by its name."""
    if name.lower() == "epoch":
        return e.Call("ticks", operand, (1,))
    if name.lower() == "isodow":
        return _from_monday(operand)
    part = _PARTS.get(name.lower())
    if part is None:
        raise refusal("function", what=f"the date part {name[:20]}")
    return e.DatePart(part, operand)


def _from_monday(day: Expr) -> Expr:
    """Return the day of the week from 1, Monday, to 7, Sunday, which otherwise is 0."""
    shifted = e.Arithmetic(Operator.ADD, e.DatePart(Part.WEEKDAY, day), e.Literal(6))
    within = e.Arithmetic(Operator.MODULO, shifted, e.Literal(7))
    return e.Arithmetic(Operator.ADD, within, e.Literal(1))


def _last_of_month(node: exp.LastDay, value: ToExpression) -> Expr:
    first = e.Call("truncate_date", value(node.this), ("month",))
    return e.Call("move_date", e.Call("move_date", first, (1, "month")), (-1, "day"))


def _extract(node: exp.Extract, value: ToExpression) -> Expr:
    return part_named(str(node.this.name), value(node.expression))


def _part(part: Part) -> Rule:
    return lambda node, value: e.DatePart(part, value(node.this))


def _truncate(node: exp.TimestampTrunc | exp.DateTrunc, value: ToExpression) -> Expr:
    unit = str(node.args["unit"].name).lower()
    if unit not in {"year", "quarter", "month", "week", "day", *SECONDS_OF}:
        raise refusal("function", what=f"DATE_TRUNC to {unit[:20]}")
    return e.Call("truncate_date", value(node.this), (unit,))


def _date_difference(node: exp.DateDiff, value: ToExpression) -> Expr:
    """Count what DuckDB counts between two days: whole weeks, and beginnings of everything else."""
    left, right = value(node.this), value(node.expression)
    unit = str(node.args.get("unit") or "day").lower().rstrip("s")
    if unit in SECONDS_OF:
        counts = [e.Call("ticks", side, (SECONDS_OF[unit],)) for side in (left, right)]
        return e.Arithmetic(Operator.SUBTRACT, *counts)
    left, right = e.Call("day", left), e.Call("day", right)
    if unit in {"day", "week"}:
        apart = e.Arithmetic(Operator.SUBTRACT, left, right)
        return _whole_weeks(apart) if unit == "week" else apart
    if unit not in _IN_A_YEAR:
        raise refusal("clause", what=f"DATEDIFF in {unit[:20]}s")
    return e.Arithmetic(Operator.SUBTRACT, _counted(left, unit), _counted(right, unit))


def _whole_weeks(days: Expr) -> Expr:
    """Return the whole weeks of a number of days, towards 0."""
    forwards = e.Arithmetic(Operator.FLOOR_DIVIDE, days, e.Literal(7))
    backwards = e.Arithmetic(Operator.FLOOR_DIVIDE, e.Negate(days), e.Literal(7))
    later = e.Compare(Comparison.GREATER_EQUAL, days, e.Literal(0))
    return e.Case(((later, forwards),), e.Negate(backwards))


_IN_A_YEAR = {"year": 1, "quarter": 4, "month": 12}


def _counted(day: Expr, unit: str) -> Expr:
    """Return how many years, quarters or months began up to a day."""
    years: Expr = e.DatePart(Part.YEAR, day)
    if unit == "year":
        return years
    whole = e.Arithmetic(Operator.MULTIPLY, years, e.Literal(_IN_A_YEAR[unit]))
    return e.Arithmetic(Operator.ADD, whole, e.DatePart(Part(unit), day))


def now() -> Expr:
    """Return the minute in which a question is asked, in UTC."""
    return e.Literal(dt.datetime.now(dt.UTC).replace(tzinfo=None, second=0, microsecond=0))


def _bucket(node: exp.DateBin, value: ToExpression) -> Expr:
    length = length_of(node.this) if isinstance(node.this, exp.Interval) else 0
    if length <= 0:
        raise refusal("clause", what="TIME_BUCKET by anything but a constant interval")
    return e.Call("bucket", value(node.expression), (length,))


def _date(node: exp.Date, value: ToExpression) -> Expr:
    found = value(node.this)
    return constant_day(found.value) if isinstance(found, e.Literal) else e.Call("day", found)


def _added(node: exp.DateAdd, value: ToExpression) -> Expr:
    if not isinstance(node.expression, exp.Interval):
        raise refusal("clause", what="DATE_ADD of anything but a constant interval")
    return moved(value(node.this), node.expression, Operator.ADD)


def _in_zone(node: exp.AtTimeZone, value: ToExpression) -> Expr:
    if str(getattr(node.args.get("zone"), "name", "")).upper() not in {"UTC", "GMT", "ETC/UTC"}:
        raise refusal("clause", what="A time zone other than UTC")
    return value(node.this)


def today() -> Expr:
    """Return the day on which a question is asked, in UTC: a constant like any other."""
    return e.Literal(dt.datetime.now(dt.UTC).date())


_SOME_MOMENT = e.Literal(dt.datetime(2020, 1, 1, 1))  # noqa: DTZ001  # any will do


def _formatted(node: exp.TimeToStr | exp.ToChar, value: ToExpression) -> Expr:
    spelling = node.args.get("format")
    if not isinstance(spelling, exp.Literal) or not spelling.is_string:
        raise refusal("clause", what="A date written by anything but a constant pattern")
    text = str(spelling.this)
    if isinstance(node, exp.ToChar):
        text = from_postgres(text)
    day = value(node.this)
    found = e.Call("format_date", day, (text,))
    if evaluate(e.Call("format_date", _SOME_MOMENT, (text,)), {}) is None:
        raise refusal("formatted", what=f"The pattern '{text[:20]}'")
    return found


def _named_day(pattern: str) -> Rule:
    return lambda node, value: e.Call("format_date", value(node.this), (pattern,))


DAYS: dict[type[exp.Expr], Rule] = {
    exp.Extract: _extract,
    exp.Year: _part(Part.YEAR),
    exp.Quarter: _part(Part.QUARTER),
    exp.Month: _part(Part.MONTH),
    exp.Day: _part(Part.DAY),
    exp.DayOfMonth: _part(Part.DAY),
    exp.DayOfWeek: _part(Part.WEEKDAY),
    exp.DayOfWeekIso: lambda node, value: _from_monday(value(node.this)),
    exp.LastDay: _last_of_month,
    exp.DayOfYear: _part(Part.DAY_OF_YEAR),
    exp.Week: _part(Part.WEEK),
    exp.WeekOfYear: _part(Part.WEEK),
    exp.Hour: _part(Part.HOUR),
    exp.Minute: _part(Part.MINUTE),
    exp.Second: _part(Part.SECOND),
    exp.TimestampTrunc: _truncate,
    exp.DateTrunc: _truncate,
    exp.DateDiff: _date_difference,
    exp.TimeToStr: _formatted,
    exp.ToChar: _formatted,
    exp.Dayname: _named_day("%A"),
    exp.Monthname: _named_day("%B"),
    exp.Date: _date,
    exp.DateAdd: _added,
    exp.DateBin: _bucket,
    exp.AtTimeZone: _in_zone,
    exp.TimeToUnix: lambda node, value: e.Call("ticks", value(node.this), (1,)),
    exp.CurrentDate: lambda _node, _value: today(),
    exp.CurrentTimestamp: lambda _node, _value: today(),
}
"""What may be done with dates."""
