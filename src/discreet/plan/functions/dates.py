"""Functions of days and moments, one row each, and the patterns that dates are written by."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Callable
from typing import Any

from discreet.kernel.functions import ScalarFunction
from discreet.plan.functions.row import PlannedFunction
from discreet.plan.lattices import EPOCH

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
