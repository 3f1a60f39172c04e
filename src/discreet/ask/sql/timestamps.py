"""Timestamps and times of day in SQL to plan expressions: arithmetic over a day and the second of it.

A timestamp column is its day wherever it stands by itself as a value. Beside it runs the second of the
day, a whole number like any other, so hours, minutes, moments and their comparisons need nothing but
whole numbers: the SQL that an engine gets, and the kernel reads, knows no timestamps.

`moment(S)` is a moment of S seconds since 1970. Those that are made here have S = (day - 1970) * 86,400
+ second [+ shift], so that hours, days and comparisons find the day and the second in them again.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields, evaluate
from discreet.ask.plan.expr import EPOCH, Comparison, Expr, Operator, Part, seconds_since
from discreet.ask.plan.functions import LENGTHS, SECONDS_OF, TIME_CODES, pattern_parts
from discreet.ask.plan.ir import CLOCK
from discreet.ask.sql.dates import parse_date
from discreet.ask.sql.refuse import refusal
from discreet.base.schema import SECONDS, DateDomain, TimestampDomain

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


_PARTS = {Part.HOUR: (SECONDS, 3_600), Part.MINUTE: (3_600, 60), Part.SECOND: (60, 1)}
_LESS = (Comparison.LESS, Comparison.LESS_EQUAL)
_GREATER = (Comparison.GREATER, Comparison.GREATER_EQUAL)
_STRICT = dict.fromkeys(_LESS, _LESS) | dict.fromkeys(_GREATER, _GREATER)
_AT_MIDNIGHT = {Comparison.LESS, Comparison.GREATER_EQUAL}
"""Comparisons with a midnight that days alone decide."""


def of_clock(expr: Expr, fields: Fields) -> Expr | None:
    """Return what is taken of a timestamp's time, in whole numbers.

    None for everything else; a time of what has none is refused.
    """
    if isinstance(expr, e.DatePart):
        return _part(expr, fields)
    if not isinstance(expr, e.Call) or expr.function not in _CALLS:
        return None
    if isinstance(expr.operand, e.Literal):
        return e.Literal(evaluate(expr, {}))
    if _is_moment(expr.operand, fields):
        return None  # of a result: worked out there
    return _CALLS[expr.function](expr, fields)


def _part(node: e.DatePart, fields: Fields) -> Expr | None:
    if _is_moment(node.operand, fields):
        return None
    if node.part not in _PARTS:
        moved = isinstance(node.operand, e.Call) and timed(node.operand, fields)
        return e.DatePart(node.part, moved.settled().day) if moved else None
    within, seconds = _PARTS[node.part]
    second = _of_row(node.operand, fields).settled().clock
    if within < SECONDS:
        second = e.Arithmetic(Operator.MODULO, second, e.Literal(within))
    return divided(second, seconds)


def _truncated(node: e.Call, fields: Fields) -> Expr | None:
    unit = str(node.options[0])
    if unit in SECONDS_OF:
        return _cut(_of_row(node.operand, fields).settled(), SECONDS_OF[unit]).moment()
    moved = isinstance(node.operand, e.Call) and timed(node.operand, fields)
    return e.Call("truncate_date", moved.settled().day, node.options) if moved else None


def _cut(moment: RowMoment, seconds: int) -> RowMoment:
    return RowMoment(moment.day, times(divided(moment.clock, seconds), seconds))


def _moved(node: e.Call, fields: Fields) -> Expr | None:
    amount, unit = _whole(node), str(node.options[1])
    if unit in SECONDS_OF:
        return moved_by(_of_row(node.operand, fields), amount, unit).moment()
    moved = isinstance(node.operand, e.Call) and timed(node.operand, fields)
    return moved_by(moved, amount, unit).moment() if moved else None


def _whole(node: e.Call) -> int:
    """Return the number that a call of ours was given."""
    found = node.options[0]
    assert isinstance(found, int), "written by `dates`"
    return found


def _day(node: e.Call, fields: Fields) -> Expr:
    found = timed(node.operand, fields)
    return node.operand if found is None else found.settled().day


def _ticks(node: e.Call, fields: Fields) -> Expr:
    """Return the beginnings of hours, minutes or seconds since 1970, or between two moments."""
    length = _whole(node)
    match node.operand:
        case e.Arithmetic(operator=Operator.SUBTRACT, left=left, right=right):
            sides = seconds_of(left, fields), seconds_of(right, fields)
            if sides[0] is None or sides[1] is None:
                raise refusal("time of day")
            return divided(e.Arithmetic(Operator.SUBTRACT, sides[0], sides[1]), length)
        case operand:
            found = seconds_of(operand, fields)
            if found is None:
                raise refusal("time of day")
            return divided(found, length)


def _bucket(node: e.Call, fields: Fields) -> Expr:
    """Return a moment cut to a part of a day, or to a week from Monday on, as TIME_BUCKET does."""
    length, found = _whole(node), _of_row(node.operand, fields).settled()
    if length == 7 * SECONDS:
        return e.Call("truncate_date", found.day, ("week",))
    if SECONDS % length:
        raise refusal("clause", what="TIME_BUCKET by anything but a week or a part of a day")
    return _cut(found, length).moment()


def _formatted(node: e.Call, fields: Fields) -> Expr | None:
    """Return a moment as text: days by their pattern, hours and minutes as small lists."""
    pieces = pattern_parts(str(node.options[0]))
    moved = timed(node.operand, fields)
    if not any(code in TIME_CODES for code in pieces):
        cut = isinstance(node.operand, e.Call) and moved
        return e.Call("format_date", cut.settled().day, node.options) if cut else None
    if moved is None:
        raise refusal("time of day")
    row = moved.settled()
    parts: list[Expr] = []
    for code in pieces:
        if code not in TIME_CODES:
            parts.append(
                e.Call("format_date", row.day, (code,)) if "%" in code else e.Literal(code)
            )
            continue
        within, seconds, spelled = TIME_CODES[code]
        value = divided(e.Arithmetic(Operator.MODULO, row.clock, e.Literal(within)), seconds)
        step = max(
            1, math.gcd(_step(row.clock), within) // seconds
        )  # of what was cut, few are left
        texts = {i: spelled(i) for i in range(0, within // seconds, step)}
        parts.append(_listed(value, texts) if len(texts) > 1 else e.Literal(texts[0]))
    return parts[0] if len(parts) == 1 else e.Concat(tuple(parts))


def _step(clock: Expr) -> int:
    """Return the seconds that a second of the day was cut to."""
    match clock:
        case e.Arithmetic(operator=Operator.MULTIPLY, right=e.Literal(value=int(step))):
            return step
        case _:
            return 1


def _listed(value: Expr, texts: dict[int, str]) -> Expr:
    branches = (
        (e.Compare(Comparison.EQUAL, value, e.Literal(i)), e.Literal(text))
        for i, text in texts.items()
    )
    return e.Case(tuple(branches), e.Literal(None))


_CALLS: dict[str, Callable[[e.Call, Fields], Expr | None]] = {
    "truncate_date": _truncated,
    "move_date": _moved,
    "day": _day,
    "ticks": _ticks,
    "bucket": _bucket,
    "format_date": _formatted,
}


def compared(node: e.Compare, fields: Fields, *, by_day: bool = False) -> Expr:
    """Return a comparison with a moment as one of days and seconds; others as they are.

    `by_day`: one side was cast to a date, so no time of it counts.
    """
    left, right, comparison = node.left, node.right, node.comparison
    if isinstance(left, e.Literal) or (timed(left, fields) is None and timed(right, fields)):
        left, right = right, left
        comparison = e.MIRRORED[comparison]
    if by_day:
        if isinstance(right, e.Literal) and isinstance(right.value, dt.datetime):
            raise refusal("time of day")
        return node
    found = timed(left, fields)
    if found is not None:
        return _of_rows(comparison, found, right, fields) or node
    if isinstance(left, e.Call) and left.function == "moment":
        seconds = seconds_of(right, fields)
        return node if seconds is None else e.Compare(comparison, left.operand, seconds)
    if not isinstance(right, e.Literal):
        return node
    if _is_moment(left, fields):
        return e.Compare(comparison, left, e.Literal(as_moment(right.value)))
    if isinstance(right.value, dt.datetime):
        raise refusal("time of day")
    return node


def listed(node: e.In, fields: Fields, *, by_day: bool = False) -> Expr:
    """Return IN over moments as comparisons; others as they are."""
    cut = isinstance(node.operand, e.Call) and node.operand.function == "moment"
    moment = cut or _is_moment(node.operand, fields)
    of_row = timed(node.operand, fields) is not None and not by_day
    if not (moment or of_row) and not any(isinstance(v, dt.datetime) for v in node.values):
        return node
    parts = tuple(
        compared(e.Compare(Comparison.EQUAL, node.operand, e.Literal(value)), fields, by_day=by_day)
        for value in node.values
    )
    return parts[0] if len(parts) == 1 else e.Or(parts)


def of_time(node: e.Compare, fields: Fields) -> Expr | None:
    """Return a comparison of CAST(x AS TIME) with a constant, in seconds of the day; None for others."""
    for one, other, comparison in (
        (node.left, node.right, node.comparison),
        (node.right, node.left, e.MIRRORED[node.comparison]),
    ):
        if isinstance(one, e.Call) and one.function == "time_of_day":
            second = _second(other)
            clock = _of_row(one.operand, fields).settled().clock
            return e.Compare(comparison, clock, e.Literal(second))
    return None


def _second(expr: Expr) -> int:
    """Return the second of the day that a constant such as '09:30' says."""
    try:
        said = dt.time.fromisoformat(str(expr.value)) if isinstance(expr, e.Literal) else None
    except ValueError:
        said = None
    if said is None or said.tzinfo is not None or said.microsecond:
        raise refusal("clause", what="A time of day beside anything but one such as '09:30:00'")
    return said.hour * 3_600 + said.minute * 60 + said.second


def _of_rows(
    comparison: Comparison, found: RowMoment, right: Expr, fields: Fields
) -> e.Compare | e.And | e.Or | None:
    if not isinstance(right, e.Literal):
        seconds = seconds_of(right, fields)
        return None if seconds is None else e.Compare(comparison, found.seconds(), seconds)
    moment = as_moment(right.value)
    if moment is None:
        return None
    return _by_day(comparison, found, earlier(moment, found.shift))


def _by_day(
    comparison: Comparison, found: RowMoment, moment: dt.datetime
) -> e.Compare | e.And | e.Or:
    """Return the comparison of a row's moment with a constant: what days decide is left to them."""
    day, date = found.day, e.Literal(moment.date())
    midnight = dt.datetime.combine(moment.date(), dt.time())
    second = e.Literal(plain_seconds(seconds_since(moment) - seconds_since(midnight)))
    if moment == midnight and comparison in _AT_MIDNIGHT:
        return e.Compare(comparison, day, date)
    if comparison in _STRICT:
        # The day alone comes first: it says whom the question can touch.
        strict, loose = _STRICT[comparison]
        later = e.Compare(comparison, found.clock, second)
        within = e.Or((e.Compare(strict, day, date), later))
        return e.And((e.Compare(loose, day, date), within))
    parts = (e.Compare(comparison, day, date), e.Compare(comparison, found.clock, second))
    return e.And(parts) if comparison is Comparison.EQUAL else e.Or(parts)


def _of_row(operand: Expr, fields: Fields) -> RowMoment:
    """Return the day and the second of a timestamp column, moved or cut."""
    found = timed(operand, fields)
    if found is None:
        raise refusal("time of day")
    return found


def _is_moment(expr: Expr, fields: Fields) -> bool:
    """Return whether an expression is a moment that is shown already: a key, a constant."""
    if isinstance(expr, e.Literal):
        return isinstance(expr.value, dt.datetime)
    if isinstance(expr, e.Call):
        cut = expr.function == "truncate_date" and expr.options[0] in SECONDS_OF
        return cut and _is_moment(expr.operand, fields)
    if not isinstance(expr, e.ColumnRef) or expr.name not in fields:
        return False
    return isinstance(fields[expr.name], TimestampDomain)
