"""Every scalar function by name, and the constants that may stand beside its operand."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import QueryRefused
from discreet.kernel.functions import LONGEST_TEXT, SEALED, ScalarFunction
from discreet.kernel.patterns import Pattern, PatternRefused, check_replacement, pattern_of
from discreet.plan.functions.dates import DATES
from discreet.plan.functions.row import PlannedFunction
from discreet.plan.functions.rows import PLANNED

SCALARS: dict[str, ScalarFunction] = {**SEALED, **PLANNED, **DATES}
"""Every function of one value that an analyst may use, each total."""

ON_TEXT = frozenset(
    name for name, row in SCALARS.items() if row.takes == "category" and row.sql is not None
)
"""What may be done with free text; everything else needs a declared list of values."""


def planned(function: str) -> PlannedFunction | None:
    """Return the row of a function that reaches engines, if at all, as something else."""
    row = SCALARS[function]
    return row if isinstance(row, PlannedFunction) else None


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
    except PatternRefused as odd:
        raise _wrong_pattern(str(odd)) from None
    return other


def _pattern(pattern: Any) -> Pattern:
    if not isinstance(pattern, str):
        raise _wrong_pattern("a pattern that is no text")
    try:
        found = pattern_of(pattern)
        pc.match_substring_regex(pa.array([""]), pattern)
    except (PatternRefused, pa.ArrowInvalid) as odd:
        raise _wrong_pattern(
            str(odd) if isinstance(odd, PatternRefused) else "one that RE2 refuses"
        ) from None
    return found


def _wrong_pattern(why: str) -> QueryRefused:
    return QueryRefused(
        f"This regular expression is declined: {why}.",
        hint="Letters, classes, anchors, plain groups, alternatives and repetitions up to 100 "
        "times are safe on every row.",
        construct="pattern",
    )


def checked_options(function: str, options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the constants beside the first argument of a function, or refuse them.

    Guarantee: as many as it takes, texts where texts belong, and whole numbers that are no longer than
    any text.
    """
    row = SCALARS[function]
    try:
        inspect.signature(row.compute).bind(None, *options)
    except TypeError:
        raise _wrong_number(function) from None
    wanted = row.constants
    least, most = wanted.places
    if not most:
        if wanted.texts and not all(isinstance(option, str) for option in options):
            raise _wrong_options(function, "texts")
        if not all(option is not None for option in options):
            raise _wrong_options(function, "values that are not NULL")
        return options
    texts = options[:1] if wanted.texts else ()
    places = [_whole(option) for option in options[len(texts) :]]
    fits = least <= len(places) <= most and all(isinstance(text, str) for text in texts)
    if not fits or any(place is None or abs(place) > LONGEST_TEXT for place in places):
        raise _wrong_options(function, f"whole numbers up to {LONGEST_TEXT:,}")
    if wanted.from_one and not places[0]:
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


def _wrong_number(function: str) -> QueryRefused:
    return QueryRefused(
        f"{function.upper()} is not called with so many constants.",
        hint=f"Write {SCALARS[function].written[0]}." if SCALARS[function].written else "",
        construct="text",
    )
