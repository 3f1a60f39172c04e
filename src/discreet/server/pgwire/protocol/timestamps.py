"""Dates and timestamps as clients write them: '1960-01-01 +00', '1960-01-01T12:00:00.5Z', BC apart."""

from __future__ import annotations

import datetime as dt
import re

_WRITTEN = re.compile(
    r"(?P<year>\d{4,5})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[T\s]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<part>\d{1,9}))?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)?",
    re.IGNORECASE,
)


def read_date(written: str) -> dt.date:
    """Return the day of a date or a timestamp; the time of day and the zone are left out."""
    return _fields(written)[0].date()


def read_timestamp(written: str) -> dt.datetime:
    """Return a timestamp without a zone; one that is written is left out, as PostgreSQL does."""
    return _fields(written)[0]


def read_timestamptz(written: str) -> dt.datetime:
    """Return a timestamp in UTC, the zone of every session here, without saying so."""
    moment, offset = _fields(written)
    return moment - offset


def _fields(written: str) -> tuple[dt.datetime, dt.timedelta]:
    found = _WRITTEN.fullmatch(written.strip())
    if found is None:
        raise ValueError
    day = dt.date(int(found["year"]), int(found["month"]), int(found["day"]))
    part = int((found["part"] or "0").ljust(6, "0")[:6])
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    return dt.datetime.combine(day, dt.time(hour, minute, second, part)), _offset(
        found["zone"] or "Z"
    )


def _offset(zone: str) -> dt.timedelta:
    if zone[0] not in "+-":
        return dt.timedelta()
    digits = zone[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[at : at + 2]) for at in (0, 2, 4))
    size = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -size if zone[0] == "-" else size
