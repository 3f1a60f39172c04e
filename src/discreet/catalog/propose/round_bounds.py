"""Round bounds outwards to numbers that a person would have chosen."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

EXACT_SPAN = 20
"""A range of whole numbers as short as this (grades, stars, months) is kept as it is."""

_STEPS = tuple(Fraction(tenths, 10) for tenths in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100))


def round_up_to(value: Fraction) -> Fraction:
    """Return the least round number that is not below a positive `value`: 90 gives 100, 109 120."""
    power = _power_of_ten(value)
    return next(step * power for step in _STEPS if step * power >= value)


def round_bounds(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Return round bounds around [low, high]: 17 to 90 gives 0 to 100, 1934 to 2005 1930 to 2010."""
    if low >= 0 and 2 * low <= high:
        return Fraction(0), round_up_to(high) if high else Fraction(1)
    if high <= 0 and 2 * high >= low:
        return -round_up_to(-low), Fraction(0)
    if low < 0 < high:
        return -round_up_to(-low), round_up_to(high)
    unit = _power_of_ten(high - low) if high > low else _power_of_ten(abs(high))
    return low // unit * unit, -(-high // unit) * unit


def round_whole_bounds(low: int, high: int) -> tuple[int, int]:
    """Return round whole bounds around [low, high]; short ranges stay as they are."""
    if high - low <= EXACT_SPAN and abs(low) <= EXACT_SPAN:
        return low, high
    lower, upper = round_bounds(Fraction(low), Fraction(high))
    return lower.__floor__(), upper.__ceil__()


def whole_years(low: dt.date, high: dt.date) -> tuple[dt.date, dt.date]:
    """Return the first and the last day of the years of `low` and `high`."""
    return dt.date(low.year, 1, 1), dt.date(high.year, 12, 31)


def step_for(decimals: int, low: Fraction, high: Fraction) -> Decimal:
    """Return a power of ten: the last decimal seen, at most six, at least a millionth of the range."""
    span = high - low
    if decimals <= 6:
        return Decimal(1).scaleb(-decimals)
    if not span:
        return Decimal("0.000001")
    exponent = 0
    power = _power_of_ten(span / 1_000_000)
    while power < 1:
        power, exponent = power * 10, exponent - 1
    return Decimal(1).scaleb(exponent)


def as_decimal(value: Fraction) -> Decimal:
    """Return a fraction whose denominator is a power of ten as an exact decimal."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    return Decimal(int(value * 10**places)).scaleb(-places)


def _power_of_ten(value: Fraction) -> Fraction:
    """Return the greatest power of ten that is not above a positive `value`."""
    power = Fraction(1)
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return power
