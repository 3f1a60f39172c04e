"""Hierarchies that build themselves: intervals, prefixes, dates, trees, or just a star."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import cast

from discreet.anonymize.groups import CellValue, spelled
from discreet.anonymize.hierarchy.levels import TOP, Hierarchy
from discreet.errors import InvalidInput

_MOST_LEVELS = 12
_ENOUGH_PARTS = 2
_CODE_SHARE = 0.9


def star(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return the hierarchy that keeps a value or says nothing."""
    return Hierarchy(column, {spelled(value): (spelled(value), TOP) for value in values})


def intervals(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return numbers > intervals of growing width > star.

    The first width is a round number that makes about 50 parts, and each next is double, until two
    parts are left; intervals start at multiples of their width, so they nest. Whole numbers read
    "20-24", others "[20, 25)". A missing value stays missing below the star.

    >>> intervals("age", [17, 25]).path(25)
    ('25', '24-25', '24-27', '*')
    """
    numbers = [_number(column, value) for value in values if value is not None]
    if not numbers:
        return star(column, values)
    whole = all(float(number).is_integer() for number in numbers)
    steps = _round_widths(numbers, whole=whole)
    paths: dict[str, tuple[str, ...]] = {}
    for value in values:
        text = spelled(value)
        if value is None:
            paths[text] = (*("",) * (len(steps) + 1), TOP)
            continue
        number = _number(column, value)
        paths[text] = (text, *_intervals(number, steps, whole=whole), TOP)
    return Hierarchy(column, paths)


def _number(column: str, value: CellValue) -> float:
    try:
        number = float(cast("str | float", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"The column '{column}' holds something that is not a number.",
            hint="Build its hierarchy from prefixes or give a file.",
        )
    return number


def _round_widths(numbers: Sequence[float], *, whole: bool) -> list[float]:
    spread = max(numbers) - min(numbers)
    if spread == 0:
        return []
    rough = spread / 50
    size = 10.0 ** math.floor(math.log10(rough))
    first = next(size * step for step in (1, 2, 5, 10) if size * step >= rough * 0.999)
    if whole:
        # A width of one would repeat the values themselves.
        first = max(2.0, round(first))
    found = [first]
    while found[-1] * 2 < spread and len(found) < _MOST_LEVELS:
        found.append(found[-1] * 2)
    if spread / found[-1] < _ENOUGH_PARTS and len(found) > 1:
        found.pop()
    return found


def _intervals(number: float, widths: Sequence[float], *, whole: bool) -> list[str]:
    """Return the label of a number at each width."""
    labels = []
    for width in widths:
        # Counted in steps of the finest width: rounding must not let levels overlap.
        times = round(width / widths[0])
        low = math.floor(number / widths[0]) // times * times * widths[0]
        if whole and float(widths[0]).is_integer():
            labels.append(f"{int(low)}-{int(low + width) - 1}")
        else:
            labels.append(f"[{low:.12g}, {low + width:.12g})")
    return labels


def prefixes(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return codes > codes with one more character of their ends replaced by a star > star.

    Codes keep their length, so ZIP codes stay recognisable.

    >>> prefixes("code", ["A12"]).path("A12")
    ('A12', 'A1*', 'A**', '*')
    """
    texts = [spelled(value) for value in values]
    longest = max((len(text) for text in texts), default=0)
    kept = range(longest - 1, 0, -1)
    paths = {
        text: (text, *(_prefix(text, number, longest) if text else "" for number in kept), TOP)
        for text in texts
    }
    return Hierarchy(column, paths)


def _prefix(text: str, number: int, longest: int) -> str:
    # Padded: 'ab' and 'abc' cut to two characters must both read 'ab*', or levels would not nest.
    return text[:number] + "*" * (longest - min(number, len(text)))


def dates(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return days > months > years > decades > star; texts must be written as 1999-12-31."""
    paths: dict[str, tuple[str, ...]] = {}
    for value in values:
        text = spelled(value)
        if value is None:
            paths[text] = ("", "", "", "", TOP)
            continue
        day = _date(column, text)
        decade = day.year // 10 * 10
        paths[text] = (
            text,
            f"{day.year:04d}-{day.month:02d}",
            f"{day.year:04d}",
            f"{decade:04d}s",
            TOP,
        )
    return Hierarchy(column, paths)


def _date(column: str, text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise InvalidInput(
            f"The column '{column}' holds something that is not a date.",
            hint="Dates are written as 1999-12-31.",
        ) from None


def guess(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return the hierarchy that suits the values: dates, numbers, codes of digits, or a star."""
    known = [value for value in values if value is not None]
    texts = [spelled(value) for value in known]
    if not known:
        return star(column, values)
    if all(isinstance(value, date) for value in known) or all(_is_date(text) for text in texts):
        return dates(column, values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        # Infinite values lie in no interval.
        finite = all(math.isfinite(cast("float", value)) for value in known)
        return intervals(column, values) if finite else star(column, values)
    codes = sum(any(letter.isdigit() for letter in text) for text in texts)
    if len({len(text) for text in texts}) == 1 and codes >= _CODE_SHARE * len(texts):
        return prefixes(column, values)
    return star(column, values)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("1999-12-31")
