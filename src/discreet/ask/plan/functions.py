"""Scalar functions of the planner, one row each: those that no engine is asked by name, and those of days and moments.

A function of the planner is tabulated, rewritten as arithmetic that every engine computes exactly, or drawn as a
curve in straight lines. Over a column with few declared values a function is tabulated, whatever the engine; on
results it is computed here. A row with nothing but a value in Python can do both, and is refused over more values.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import EPOCH, Call, Comparison, Expr, Operator
from discreet.base.numbers import plain, to_fraction
from discreet.privacy.kernel.functions import Constants, ScalarFunction, Whole


@dataclass(frozen=True, slots=True)
class CurveShape:
    """A monotone function, where it begins, and the scale on which it bends evenly."""

    value: Callable[[float], float]
    even: Callable[[float], float]
    back: Callable[[float], float]
    from_zero: bool | None  # None: from anywhere; True: 0 is in; False: only above 0


def logarithm(value: Callable[[float], float]) -> CurveShape:
    """Return the shape of a logarithm to any base."""
    return CurveShape(value, math.log, math.exp, from_zero=False)


def exponential() -> CurveShape:
    """Return the shape of e to the power of x."""
    return CurveShape(
        math.exp, lambda x: math.exp(x / 2), lambda g: 2 * math.log(g), from_zero=None
    )


def power(given: Fraction) -> CurveShape:
    """Return the shape of x to the power of a constant."""
    exponent = float(given)
    half = exponent / 2
    return CurveShape(
        lambda x: x**exponent,
        lambda x: x**half,
        lambda g: g ** (1 / half),
        from_zero=exponent > 0,
    )


ValueLattice: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""The ends and the step of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFunction(ScalarFunction):
    """A function that reaches engines, if at all, as something else.

    Over more values than a table holds: `rewritten` is the same as other expressions, put in its place
    wherever a range or SQL is asked for; `lowered` replaces the call in the plan; `curve` draws it in
    straight lines, of the exponent where it has one. `of_moment`: what it gives for a moment, where it
    takes dates.
    """

    rewritten: Callable[[Expr], Expr] | None = None
    lowered: Callable[[Call, ValueLattice], Expr] | None = None
    curve: CurveShape | Callable[[Fraction], CurveShape] | None = None
    of_moment: str = ""


_ONE = e.Literal(1)


def floor(operand: Expr) -> Expr:
    """Return the greatest whole number that is not above."""
    return e.Arithmetic(Operator.FLOOR_DIVIDE, operand, _ONE)


def ceil(operand: Expr) -> Expr:
    """Return the least whole number that is not below."""
    return e.Negate(floor(e.Negate(operand)))


def rounded(call: e.Call, found: ValueLattice) -> Expr:
    """Return the nearest number with so many digits, halves away from zero, as SQL rounds."""
    digits = int(call.options[0]) if call.options else 0  # type: ignore[arg-type]  # numbers by the grammar
    low, high, step = found
    operand, to = call.operand, Fraction(10) ** -digits
    if (step / to).denominator == 1:
        return operand  # every value is such a multiple
    up = _nearest(operand, to)
    down = e.Negate(_nearest(e.Negate(operand), to))
    if low >= 0:
        return up
    if high <= 0:
        return down
    positive = e.Compare(Comparison.GREATER_EQUAL, operand, e.Literal(0))
    return e.Case(((positive, up),), down)


def _nearest(operand: Expr, to: Fraction) -> Expr:
    shifted = e.Arithmetic(Operator.ADD, operand, e.Literal(to / 2))
    places = e.Arithmetic(Operator.FLOOR_DIVIDE, shifted, e.Literal(to))
    return e.Arithmetic(Operator.MULTIPLY, places, e.Literal(to))


def product(power: e.Call, _found: ValueLattice) -> Expr:
    """Return a small whole power as a product, which is exact."""
    exponent = power.options[0]
    if exponent not in {1, 2, 3, 4} or isinstance(exponent, bool):
        return power
    found = power.operand
    for _ in range(int(exponent) - 1):  # type: ignore[arg-type]  # one of the four
        found = e.Arithmetic(Operator.MULTIPLY, found, power.operand)
    return found


def sign(call: e.Call, _found: ValueLattice) -> Expr:
    """Return 1, -1, 0 or NULL by what a number is compared with 0."""
    compared = ((Comparison.GREATER, 1), (Comparison.LESS, -1), (Comparison.EQUAL, 0))
    branches = tuple(
        (e.Compare(how, call.operand, e.Literal(0)), e.Literal(value)) for how, value in compared
    )
    return e.Case(branches, e.Literal(None))


MOST_DIGITS = 400
MOST_BITS = 256
"""ROUND to more digits and exact powers of longer numbers would only fill the memory."""


def _round(value: Any, digits: Any = 0) -> Any:
    # Half away from zero, as SQL does; Python's round() goes to even. In whole numbers: fractions
    # would take most of the time in which a large column is tabulated.
    places = int(digits)
    if abs(places) > MOST_DIGITS:
        raise ValueError(digits)
    above, below = value.as_integer_ratio()
    scale = 10 ** abs(places)
    above, below = (above * scale, below) if places > 0 else (above, below * scale)
    rounded = (2 * abs(above) + below) // (2 * below) * (1 if above >= 0 else -1)
    if places <= 0:
        return rounded * scale
    result = Fraction(rounded, scale)
    return int(result) if result.denominator == 1 else result


def _number(value: Any) -> Any:
    # A truth value is 0 or 1 from here on: Python would go on calling it a truth value.
    return (
        to_fraction(value)
        if isinstance(value, str)
        else int(value)
        if isinstance(value, bool)
        else value
    )


def _text(value: Any) -> str:
    if isinstance(value, Fraction):
        return plain(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _power(value: Any, exponent: Any) -> Any:
    exact = Fraction(exponent)
    if exact.denominator == 1 and abs(exact) <= 64 and not isinstance(value, float):
        base = Fraction(value)
        if max(base.numerator.bit_length(), base.denominator.bit_length()) <= MOST_BITS:
            return base ** int(exact)
    return float(value) ** float(exponent)


def _of_float(
    written: str, compute: Callable[[float], float], curve: CurveShape | None = None
) -> PlannedFunction:
    """Return a function of real numbers; its last digits are the machine's."""
    return PlannedFunction(
        written=(written,),
        takes="number",
        gives="number",
        compute=lambda value: compute(float(value)),
        steps=True,
        curve=curve,
    )


def _of_part(written: str, gives: str, compute: Callable[[str, str], Any]) -> PlannedFunction:
    """Return a function of a text and a constant one."""
    return PlannedFunction(
        written=(written,),
        takes="category",
        gives=gives,
        compute=lambda value, part: compute(str(value), str(part)),
        constants=Constants(texts=True),
        steps=True,
    )


PLANNED: dict[str, ScalarFunction] = {
    "ceil": PlannedFunction(
        written=("CEIL(x)",),
        takes="number",
        gives="number",
        compute=math.ceil,
        whole=Whole.ALWAYS,
        steps=True,
        rewritten=ceil,
    ),
    "floor": PlannedFunction(
        written=("FLOOR(x)",),
        takes="number",
        gives="number",
        compute=math.floor,
        whole=Whole.ALWAYS,
        steps=True,
        rewritten=floor,
    ),
    "round": PlannedFunction(
        written=("ROUND(x, 2)",),
        takes="number",
        gives="number",
        compute=_round,
        constants=Constants(places=(0, 1)),
        whole=Whole.AS_OPERAND,
        steps=True,
        lowered=rounded,
    ),
    "sqrt": PlannedFunction(
        written=("SQRT(x)",),
        takes="number",
        gives="number",
        compute=lambda value: math.sqrt(float(value)) if value >= 0 else None,
        steps=True,
        curve=power(Fraction(1, 2)),
    ),
    "exp": _of_float("EXP(x)", math.exp, exponential()),
    "ln": _of_float("LN(x)", math.log, logarithm(math.log)),
    "log10": _of_float("LOG(x)", math.log10, logarithm(math.log10)),
    "log2": _of_float("LOG2(x)", math.log2, logarithm(math.log2)),
    "power": PlannedFunction(
        written=("POWER(x, 0.5)",),
        takes="number",
        gives="number",
        compute=_power,
        steps=True,
        lowered=product,
        curve=power,
    ),
    "sign": PlannedFunction(
        written=("SIGN(x)",),
        takes="number",
        gives="number",
        compute=lambda value: (value > 0) - (value < 0),
        whole=Whole.ALWAYS,
        steps=True,
        lowered=sign,
    ),
    "cos": _of_float("COS(x)", math.cos),
    "sin": _of_float("SIN(x)", math.sin),
    "tan": _of_float("TAN(x)", math.tan),
    "atan": _of_float("ATAN(x)", math.atan),
    "radians": _of_float("RADIANS(x)", math.radians),
    "degrees": _of_float("DEGREES(x)", math.degrees),
    "right": PlannedFunction(
        written=("RIGHT(s, 2)",),
        takes="category",
        gives="category",
        compute=lambda value, count: str(value)[-int(count) :] if int(count) else "",
        constants=Constants(places=(1, 1)),
        steps=True,
    ),
    "position": _of_part("POSITION('a' IN s)", "number", lambda value, part: value.find(part) + 1),
    "contains": _of_part("CONTAINS(s, 'a')", "boolean", lambda value, part: part in value),
    "ends_with": _of_part("ENDS_WITH(s, 'a')", "boolean", str.endswith),
    "reverse": PlannedFunction(
        written=("REVERSE(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value)[::-1],
        steps=True,
    ),
    # What CAST makes: of numbers, texts and truth values alike.
    "integer": PlannedFunction(
        takes="",
        gives="number",
        compute=lambda value: int(value) if isinstance(value, str) else int(_round(value)),
        whole=Whole.ALWAYS,
        lowered=rounded,
    ),
    "number": PlannedFunction(takes="", gives="number", compute=_number),
    "text": PlannedFunction(takes="", gives="category", compute=_text),
}
"""By the name that a call has in a plan."""


SECONDS_OF = {"hour": 3_600, "minute": 60, "second": 1}
"""What a moment may be cut to."""

_CODES = {
    "%Y": "{0.year:04}",
    "%m": "{0.month:02}",
    "%d": "{0.day:02}",
    "%j": "{1:03}",
    "%y": "{2:02}",
    "%b": "{3}",
    "%B": "{4}",
    "%a": "{5}",
    "%A": "{6}",
    "%%": "%",
}
_POSTGRES = {
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "AM": "%p",
    "PM": "%p",
    "YYYY": "%Y",
    "MM": "%m",
    "DDD": "%j",
    "DD": "%d",
    "YY": "%y",
    "Month": "%B",
    "Mon": "%b",
    "Day": "%A",
    "Dy": "%a",
}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


LENGTHS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
"""Seconds of the intervals that always have as many."""

TIME_CODES: dict[str, tuple[int, int, Callable[[int], str]]] = {
    "%H": (86_400, 3_600, lambda hour: f"{hour:02}"),
    "%I": (86_400, 3_600, lambda hour: f"{(hour - 1) % 12 + 1:02}"),
    "%p": (86_400, 43_200, lambda half: ("AM", "PM")[half]),
    "%M": (3_600, 60, lambda minute: f"{minute:02}"),
    "%S": (60, 1, lambda second: f"{second:02}"),
}
"""Codes of a time of day: within how many seconds it counts, how many make one, how it is written."""


def pattern_parts(spelling: str) -> list[str]:
    """Return a STRFTIME pattern as its codes of a time of day, and what stands between them.

    >>> pattern_parts("%Y-%m-%d %H:00")
    ['%Y-%m-%d ', '%H', ':00']
    """
    found, at = [""], 0
    while at < len(spelling):
        piece = spelling[at : at + 2] if spelling[at] == "%" else spelling[at]
        at += len(piece)
        if piece in TIME_CODES:
            found += [piece, ""]
        else:
            found[-1] += piece
    return [piece for piece in found if piece]


def from_postgres(spelling: str) -> str:
    """Return a TO_CHAR pattern as one of STRFTIME: YYYY-MM is %Y-%m; other letters mean nothing."""
    found, at = "", 0
    while at < len(spelling):
        code = next((code for code in _POSTGRES if spelling.startswith(code, at)), None)
        other = "%?" if spelling[at].isalpha() else spelling[at]
        found += _POSTGRES[code] if code else other
        at += len(code) if code else 1
    return found


def _formatted(day: dt.date, spelling: str) -> str | None:
    found, at = "", 0
    month, weekday = _MONTHS[day.month - 1], _DAYS[day.weekday()]
    parts = (day, day.timetuple().tm_yday, day.year % 100, month[:3], month, weekday[:3], weekday)
    while at < len(spelling):
        if spelling[at] != "%":
            found, at = found + spelling[at], at + 1
            continue
        written = spelling[at : at + 2]
        if written in TIME_CODES and isinstance(day, dt.datetime):
            within, seconds, spelled = TIME_CODES[written]
            found, at = found + spelled(_second(day) % within // seconds), at + 2
            continue
        code = _CODES.get(written)
        if code is None:
            return None
        found, at = found + code.format(*parts), at + 2
    return found


def _second(moment: dt.datetime) -> int:
    return moment.hour * 3_600 + moment.minute * 60 + moment.second


def _midnight(day: dt.date) -> dt.datetime:
    return day if isinstance(day, dt.datetime) else dt.datetime.combine(day, dt.time())


def _ticks(day: dt.date, seconds: Any) -> int:
    return (_midnight(day) - EPOCH) // dt.timedelta(seconds=int(seconds))


def _bucket(day: dt.date, seconds: Any) -> dt.datetime:
    first = dt.datetime(2000, 1, 3)  # noqa: DTZ001  # moments are in UTC, without a zone
    return _midnight(day) - (_midnight(day) - first) % dt.timedelta(seconds=int(seconds))


def moved(day: dt.date, amount: Any, unit: str) -> dt.date:
    """Return a day or moment so much later; the last of a month stays inside it."""
    amount = int(amount)
    if unit in {"hour", "minute", "second"}:
        later = _midnight(day) + dt.timedelta(seconds=amount * LENGTHS[unit])
        whole = later.time() == dt.time() and not isinstance(day, dt.datetime)
        return later.date() if whole else later
    if unit in {"day", "week"}:
        return day + dt.timedelta(days=amount * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + amount * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    return day.replace(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _truncate_date(value: dt.date, part: Any) -> dt.date:
    if isinstance(value, dt.datetime):
        if part in SECONDS_OF:
            return value - (value - EPOCH) % dt.timedelta(seconds=SECONDS_OF[part])
        value = value.date()
    match part:
        case "year":
            return value.replace(month=1, day=1)
        case "quarter":
            return value.replace(month=3 * ((value.month - 1) // 3) + 1, day=1)
        case "month":
            return value.replace(day=1)
        case "week":
            return value - dt.timedelta(days=value.weekday())
        case _:
            return value


DATES: dict[str, ScalarFunction] = {
    "truncate_date": PlannedFunction(takes="date", gives="date", compute=_truncate_date),
    "format_date": PlannedFunction(
        takes="date", gives="category", compute=_formatted, of_moment="category"
    ),
    "move_date": PlannedFunction(takes="date", gives="date", compute=moved, of_moment="moment"),
    "day": PlannedFunction(
        takes="date",
        gives="date",
        compute=lambda day: day.date() if hasattr(day, "hour") else day,
        of_moment="date",
    ),
    "ticks": PlannedFunction(takes="date", gives="number", compute=_ticks, of_moment="number"),
    "bucket": PlannedFunction(takes="date", gives="moment", compute=_bucket, of_moment="moment"),
    "time_of_day": PlannedFunction(takes="moment", gives="number", compute=_second),
    "moment": PlannedFunction(
        takes="number",
        gives="moment",
        compute=lambda seconds: EPOCH + dt.timedelta(seconds=int(seconds)),
    ),
}
"""All of them are written in other ways (EXTRACT, DATE_TRUNC, intervals), so none has a call of its own."""
