"""Periods of the calendar by name: days, weeks, months, quarters, years."""

from __future__ import annotations

import datetime as dt
import re
from enum import Enum


class Every(Enum):
    """How long a period is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def period(self, day: dt.date) -> str:
        """Return the name of the period that `day` lies in; later periods have greater names.

        >>> Every.QUARTER.period(dt.date(2026, 11, 15))
        '2026-Q4'
        """
        match self:
            case Every.DAY:
                return day.isoformat()
            case Every.WEEK:
                year, week, _ = day.isocalendar()
                return f"{year:04}-W{week:02}"
            case Every.MONTH:
                return f"{day.year:04}-{day.month:02}"
            case Every.QUARTER:
                return f"{day.year:04}-Q{(day.month + 2) // 3}"
            case Every.YEAR:
                return f"{day.year:04}"

    def names(self, text: str) -> bool:
        """Return whether `text` has the form of such a period's name."""
        return _FORMS[self].fullmatch(text) is not None


_FORMS = {
    Every.DAY: re.compile(r"\d{4}-\d{2}-\d{2}"),
    Every.WEEK: re.compile(r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])"),
    Every.MONTH: re.compile(r"\d{4}-(0[1-9]|1[0-2])"),
    Every.QUARTER: re.compile(r"\d{4}-Q[1-4]"),
    Every.YEAR: re.compile(r"\d{4}"),
}
