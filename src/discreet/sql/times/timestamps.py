"""What a timestamp is made of: a day, the second of it, and by how many seconds it is moved.

`moment(S)` is a moment of S seconds since 1970. Those that are made here have S = (day - 1970) * 86,400
+ second [+ shift], so that hours, days and comparisons find the day and the second in them again.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.schema import SECONDS, DateDomain
from discreet.plan import expr as e
from discreet.plan.evaluate import Fields
from discreet.plan.expr import EPOCH, Comparison, Expr, Operator, seconds_since
from discreet.plan.functions import LENGTHS
from discreet.plan.ir import CLOCK
from discreet.sql.refuse import refusal
from discreet.sql.times.days import parse_date

_FIRST = e.Literal(EPOCH.date())
_DAYS = {"move_date", "truncate_date", "day"}


@dataclass(frozen=True, slots=True)
class RowMoment:
    """A moment of a row: its day, the second of the day, and seconds to be added to both."""

    day: Expr
    clock: Expr
    shift: int = 0

    def seconds(self) -> Expr:
        """Return the seconds since 1970."""
        base = added(times(e.Arithmetic(Operator.SUBTRACT, self.day, _FIRST), SECONDS), self.clock)
        return added(base, e.Literal(self.shift)) if self.shift else base

    def moment(self) -> Expr:
        """Return the moment as a value."""
        return e.Call("moment", self.seconds())

    def settled(self) -> RowMoment:
        """Return the same moment with nothing left to be added: the second may pass midnight."""
        if not self.shift:
            return self
        days, rest = divmod(self.shift, SECONDS)
        early = e.Call("move_date", self.day, (days, "day"))
        if not rest:
            return RowMoment(early, self.clock)
        late = e.Call("move_date", self.day, (days + 1, "day"))
        passed = e.Compare(Comparison.GREATER_EQUAL, self.clock, e.Literal(SECONDS - rest))
        unknown = (e.IsNull(self.clock), e.Literal(None))
        day = e.Case((unknown, (passed, late)), early)
        second = added(self.clock, e.Literal(rest))
        return RowMoment(day, e.Arithmetic(Operator.MODULO, second, e.Literal(SECONDS)))


def timed(expr: Expr, fields: Fields) -> RowMoment | None:
    """Return an expression as a moment of a row; None for what has no time of day."""
    match expr:
        case e.ColumnRef(name=name) if f"{name}{CLOCK}" in fields:
            return RowMoment(expr, e.ColumnRef(f"{name}{CLOCK}"))
        case e.Call(function="moment", operand=seconds):
            return _taken_apart(seconds)
        case e.Call(function="move_date", operand=operand, options=(int(amount), str(unit))):
            found = timed(operand, fields)
            return None if found is None else moved_by(found, amount, unit)
        case _:
            return None


def moved_by(moment: RowMoment, amount: int, unit: str) -> RowMoment:
    """Return a moment moved by an interval; months and years move its day."""
    if unit in LENGTHS:
        return RowMoment(moment.day, moment.clock, moment.shift + amount * LENGTHS[unit])
    settled = moment.settled()
    return RowMoment(e.Call("move_date", settled.day, (amount, unit)), settled.clock)


def _taken_apart(seconds: Expr) -> RowMoment | None:
    match seconds:
        case e.Arithmetic(
            operator=Operator.ADD,
            left=e.Arithmetic(
                operator=Operator.MULTIPLY,
                left=e.Arithmetic(operator=Operator.SUBTRACT, left=day, right=first),
            ),
            right=clock,
        ) if first == _FIRST:
            return RowMoment(day, clock)
        case e.Arithmetic(operator=Operator.ADD, left=base, right=e.Literal(value=int(shift))):
            found = _taken_apart(base)
            return None if found is None else RowMoment(found.day, found.clock, shift)
        case _:
            return None


def seconds_of(expr: Expr, fields: Fields) -> Expr | None:
    """Return a moment, or the midnight of a day, as seconds since 1970; None for others."""
    found = timed(expr, fields)
    if found is not None:
        return found.seconds()
    if isinstance(expr, e.Literal):
        moment = as_moment(expr.value)
        return None if moment is None else e.Literal(plain_seconds(seconds_since(moment)))
    if isinstance(expr, e.Call) and expr.function == "moment":
        return expr.operand
    day = isinstance(expr, e.Call) and expr.function in _DAYS
    if day or (isinstance(expr, e.ColumnRef) and isinstance(fields.get(expr.name), DateDomain)):
        return times(e.Arithmetic(Operator.SUBTRACT, expr, _FIRST), SECONDS)
    return None


def as_moment(value: Any) -> dt.datetime | None:
    """Return a constant as a moment: a day is its midnight."""
    found = parse_date(value) if isinstance(value, str) else value
    if isinstance(found, dt.date) and not isinstance(found, dt.datetime):
        return dt.datetime.combine(found, dt.time())
    return found if isinstance(found, dt.datetime) else None


def earlier(moment: dt.datetime, seconds: int) -> dt.datetime:
    """Return a constant so many seconds earlier, or refuse it outside of the calendar."""
    try:
        return moment - dt.timedelta(seconds=seconds)
    except OverflowError:
        raise refusal("clause", what="A moment outside of the calendar") from None


def plain_seconds(seconds: Fraction) -> int | Fraction:
    """Return a number of seconds, whole where it is."""
    return int(seconds) if seconds.denominator == 1 else seconds


def divided(value: Expr, by: int) -> Expr:
    """Return a value over a whole number, rounded down."""
    return value if by == 1 else e.Arithmetic(Operator.FLOOR_DIVIDE, value, e.Literal(by))


def times(value: Expr, by: int) -> Expr:
    """Return a value times a whole number."""
    return value if by == 1 else e.Arithmetic(Operator.MULTIPLY, value, e.Literal(by))


def added(one: Expr, two: Expr) -> Expr:
    """Return a sum."""
    return e.Arithmetic(Operator.ADD, one, two)
