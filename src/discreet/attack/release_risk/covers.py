"""Values that a generalised cell may stand for: itself, an interval, a prefix, a list."""

from __future__ import annotations

import datetime as dt
import re

TOP = "*"
OR = " or "
_MISSING = "missing"
_NUMBER = r"-?\d+(?:\.\d+)?"
_DASHED = re.compile(rf"({_NUMBER})\s*(?:-|\.\.|to)\s*({_NUMBER})")
_BRACKETED = re.compile(rf"([\[(])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\])])")
_DECADE = re.compile(r"(\d{3})0s")
_COARSE = re.compile(r" or |[*{\[(]|\d\s*(?:-|\.\.|to)\s*-?\d|\d{4}")


def looks_coarse(label: str | None) -> bool:
    """Return whether a cell may stand for more than itself, by the look of it."""
    return label is not None and not _is_date(label) and bool(_COARSE.search(label))


def covers(label: str | None, value: str | None) -> bool:
    """Return whether a cell of a release may stand for a value, by the look of it.

    >>> [covers(cell, "37") for cell in ("37", "35-39", "[30, 37)", "3*", "*", "40-44")]
    [True, True, False, True, True, False]
    >>> covers("Nurse or Teacher", "Nurse"), covers("1990s", "1994-05-01")
    (True, True)
    """
    if label in (value, TOP):
        return True
    if label is None:
        return False
    if OR in label:
        return any(covers(part, value) for part in label.split(OR))
    return label == _MISSING if value is None else _covers(label, value)


def _covers(label: str, value: str) -> bool:
    number = float(value) if re.fullmatch(_NUMBER, value) else None
    if number is not None and (inside := _interval(label, number)) is not None:
        return inside
    if label.endswith(TOP):
        return value.startswith(label.rstrip(TOP))
    if label.startswith("{") and label.endswith("}"):
        return value in (part.strip() for part in label[1:-1].split(","))
    return _is_date(value) and _period(label, value)


def _interval(label: str, number: float) -> bool | None:
    if found := _DASHED.fullmatch(label):
        return float(found[1]) <= number <= float(found[2])
    if found := _BRACKETED.fullmatch(label):
        low, high = float(found[2]), float(found[3])
        above = number >= low if found[1] == "[" else number > low
        return above and (number <= high if found[4] == "]" else number < high)
    return None


def _period(label: str, day: str) -> bool:
    if decade := _DECADE.fullmatch(label):
        return day.startswith(decade[1])
    first, _, last = label.partition(" to ")
    if last and _is_date(first) and _is_date(last):
        return first <= day <= last  # dates as written sort as they fall
    return day.startswith(f"{label}-")


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True
