"""Functions of one value and constants, one row each: what they take, what they give, how they compute.

Over a column with few declared values they are simply tabulated, whatever the engine; over free text
those in `ON_TEXT` are written in SQL. Each is total: NULL where it would fail.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import QueryRefused
from discreet.kernel.derive.patterns import Odd, Pattern, check_replacement, pattern_of
from discreet.kernel.derive.values import LONGEST_TEXT as GREATEST_PLACE

LONGEST_TEXT = 1_000
"""Free text counts as no longer than this: a length has a range, as every number does."""

ON_TEXT = frozenset(
    {"lower", "upper", "trim", "left", "substring", "replace", "split_part", "length"}
    | {"matches", "replace_pattern", "starts_with"}
)
"""What may be done with free text; everything else needs a declared list of values."""


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """One function: the kind that it takes, the kind that it gives, and its value."""

    takes: str
    gives: str
    compute: Callable[..., Any]


def checked_pattern(pattern: Any) -> str:
    """Return a regular expression that never fails and takes linear time, or refuse it."""
    _pattern(pattern)
    return str(pattern)


def checked_replacement(pattern: Any, other: Any) -> str:
    """Return what a pattern's matches are replaced by, or refuse it."""
    found = _pattern(pattern)
    if not isinstance(other, str):
        raise _wrong_pattern("a replacement that is no text")
    try:
        check_replacement(other, found.groups)
    except Odd as odd:
        raise _wrong_pattern(str(odd)) from None
    return other


def _pattern(pattern: Any) -> Pattern:
    if not isinstance(pattern, str):
        raise _wrong_pattern("a pattern that is no text")
    try:
        found = pattern_of(pattern)
        pc.match_substring_regex(pa.array([""]), pattern)
    except (Odd, pa.ArrowInvalid) as odd:
        raise _wrong_pattern(str(odd) if isinstance(odd, Odd) else "one that RE2 refuses") from None
    return found


def _wrong_pattern(why: str) -> QueryRefused:
    return QueryRefused(
        f"This regular expression is declined: {why}.",
        hint="Letters, classes, anchors, plain groups, alternatives and repetitions up to 100 "
        "times are safe on every row.",
        construct="pattern",
    )


_TEXTS_ONLY = frozenset({"replace", "position", "starts_with", "ends_with", "contains"})
_PLACES = {"left": (1, 1), "right": (1, 1), "substring": (1, 2), "split_part": (1, 1)}


def checked_options(function: str, options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the constants beside the first argument of a function, or refuse them.

    Guarantee: texts where texts belong, and whole numbers that are no longer than any text.
    """
    if function in _TEXTS_ONLY and not all(isinstance(option, str) for option in options):
        raise _wrong_options(function, "texts")
    if function not in _PLACES:
        if not all(option is not None for option in options):
            raise _wrong_options(function, "values that are not NULL")
        return options
    texts = options[:1] if function == "split_part" else ()
    places = [_whole(option) for option in options[len(texts) :]]
    least, most = _PLACES[function]
    fits = least <= len(places) <= most and all(isinstance(text, str) for text in texts)
    if not fits or any(place is None or abs(place) > GREATEST_PLACE for place in places):
        raise _wrong_options(function, f"whole numbers up to {GREATEST_PLACE:,}")
    if function == "split_part" and not places[0]:
        raise _wrong_options(function, "places from 1 on")
    return (*texts, *places)


def _whole(option: Any) -> int | None:
    number = isinstance(option, int | Fraction) and not isinstance(option, bool)
    return int(option) if number and Fraction(option).denominator == 1 else None


def _wrong_options(function: str, wanted: str) -> QueryRefused:
    return QueryRefused(
        f"{function.upper()} takes {wanted} as constants here.",
        hint="What could fail on some row is never run.",
        construct="text",
    )


@lru_cache(maxsize=4096)
def _matches(value: str, pattern: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([value]), pattern)[0].as_py())


@lru_cache(maxsize=4096)
def _replaced(value: str, pattern: str, other: str, *every: str) -> str:
    most = None if "g" in every else 1
    found = pc.replace_substring_regex(pa.array([value]), pattern, other, max_replacements=most)
    return str(found[0].as_py())


def _exchanged(value: str, old: str, new: str) -> str:
    if not old:
        return value
    if value.count(old) * len(new) > GREATEST_PLACE:
        raise ValueError("longer than any text")
    return value.replace(old, new)


def _split_part(value: str, by: str, place: Any) -> str:
    parts = value.split(by) if by else [value]
    at = int(place) - 1 if int(place) > 0 else len(parts) + int(place)
    return parts[at] if 0 <= at < len(parts) else ""


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
        code = _CODES.get(spelling[at : at + 2])
        if code is None:
            return None
        found, at = found + code.format(*parts), at + 2
    return found


def moved(day: dt.date, amount: Any, unit: str) -> dt.date:
    """Return a day so many days, weeks, months or years later; the last of a month stays inside it."""
    amount = int(amount)
    if unit in {"day", "week"}:
        return day + dt.timedelta(days=amount * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + amount * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    return day.replace(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _text(gives: str, compute: Callable[..., Any]) -> ScalarFunction:
    return ScalarFunction("category", gives, compute)


def _number(compute: Callable[[float], float]) -> ScalarFunction:
    return ScalarFunction("number", "number", lambda value: compute(float(value)))


MORE: dict[str, ScalarFunction] = {
    "matches": _text("boolean", lambda value, pattern: _matches(str(value), pattern)),
    "replace_pattern": _text("category", lambda v, *given: _replaced(str(v), *map(str, given))),
    "replace": _text("category", lambda v, old, new: _exchanged(str(v), old, new)),
    "split_part": _text("category", lambda v, by, place: _split_part(str(v), str(by), place)),
    "position": _text("number", lambda value, part: str(value).find(str(part)) + 1),
    "starts_with": _text("boolean", lambda value, part: str(value).startswith(str(part))),
    "ends_with": _text("boolean", lambda value, part: str(value).endswith(str(part))),
    "contains": _text("boolean", lambda value, part: str(part) in str(value)),
    "reverse": _text("category", lambda value: str(value)[::-1]),
    "format_date": ScalarFunction("date", "category", _formatted),
    "move_date": ScalarFunction("date", "date", moved),
    "cos": _number(math.cos),
    "sin": _number(math.sin),
    "tan": _number(math.tan),
    "atan": _number(math.atan),
    "radians": _number(math.radians),
    "degrees": _number(math.degrees),
    "log2": _number(math.log2),
}
