"""Certified bounds of exp, log and square root, as exact fractions rounded in a stated direction.

They stand on Python's `decimal`, whose exp, ln and sqrt are correctly rounded at the precision of
the context; one step outwards with next_plus or next_minus then bounds the true value. The argument
itself is first rounded in the same direction, which is safe because all three functions increase.
"""

from __future__ import annotations

from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction

DIGITS = 40
"""Significant digits of every bound."""

LEAST = Fraction(1, 10**400)
"""Upper bounds of positive numbers never go below this, so that no fraction grows without limit."""

_FLOOR_EXPONENT = Decimal(-921)  # exp(-921) is just below 10^-399
_CEILING_EXPONENT = Decimal(10_000)  # e^10000 has 4,343 digits; nobody needs a larger promise


def _context(rounding: str) -> Context:
    # The least exponent matters: next_minus(0) must not be a number with a billion digits.
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(prec=DIGITS, rounding=rounding, Emin=-450, Emax=9999, traps=traps)


_DOWN = _context(ROUND_FLOOR)
_UP = _context(ROUND_CEILING)


def decimal_down(value: Fraction) -> Decimal:
    """Return a decimal of `DIGITS` digits that is not above `value`."""
    return _DOWN.divide(Decimal(value.numerator), Decimal(value.denominator))


def decimal_up(value: Fraction) -> Decimal:
    """Return a decimal of `DIGITS` digits that is not below `value`."""
    return _UP.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp_upper(exponent: Fraction) -> Fraction:
    """Return a fraction that is not below e^exponent.

    >>> e = Fraction("2.71828182845904523536028747135266249775724709")
    >>> exp_lower(Fraction(1)) < e < exp_upper(Fraction(1))
    True
    """
    argument = decimal_up(exponent)
    if argument < _FLOOR_EXPONENT:
        return LEAST * 100
    if argument > _CEILING_EXPONENT:
        raise OverflowError("e to a power above 10,000 is not computed")
    return Fraction(_UP.next_plus(_UP.exp(argument)))


def exp_lower(exponent: Fraction) -> Fraction:
    """Return a non-negative fraction that is not above e^exponent."""
    argument = decimal_down(exponent)
    if argument < _FLOOR_EXPONENT:
        return Fraction(0)
    argument = min(argument, _CEILING_EXPONENT)
    return Fraction(_DOWN.next_minus(_DOWN.exp(argument)))


def log_upper(value: Fraction) -> Fraction:
    """Return a fraction that is not below the natural logarithm of a positive `value`."""
    return Fraction(_UP.next_plus(_UP.ln(decimal_up(value))))


def log_lower(value: Fraction) -> Fraction:
    """Return a fraction that is not above the natural logarithm of a positive `value`."""
    return Fraction(_DOWN.next_minus(_DOWN.ln(decimal_down(value))))


def sqrt_lower(value: Fraction) -> Fraction:
    """Return a non-negative fraction that is not above the square root of `value`."""
    root = _DOWN.next_minus(_DOWN.sqrt(decimal_down(value)))
    return Fraction(max(root, Decimal(0)))


def tanh_upper(value: Fraction) -> Fraction:
    """Return a fraction in [0, 1] that is not below tanh(value), for a value of at least 0."""
    if value > 100:
        return Fraction(1)
    # tanh(x) = (u - 1) / (u + 1) with u = e^(2x), which grows with u.
    square = _UP.next_plus(_UP.exp(decimal_up(2 * value)))
    ratio = _UP.divide(_UP.subtract(square, Decimal(1)), _DOWN.add(square, Decimal(1)))
    return min(Fraction(1), Fraction(ratio))
