"""Certified integer bounds of the exponential function: what every sampler stands on.

Fixed-point numbers are integers counted in units of 2^-bits. Each operation rounds outwards, so the
true value always lies between the two integers returned. No floating point.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

Bracket: TypeAlias = tuple[int, int]
"""Two integers (low, high) with low <= 2^bits * value <= high."""


def exp_bounds(exponent: Fraction, bits: int) -> Bracket:
    """Return integers low <= 2^bits * exp(exponent) <= high for an exponent of at most 0.

    high - low is at most 2, so asking for more bits always narrows the bounds.

    >>> exp_bounds(Fraction(-1), 16)      # 65536 / e = 24109.3...
    (24109, 24110)
    """
    if exponent > 0:
        raise ValueError("exp_bounds needs an exponent of at most 0")
    # exp(x) = exp(x / 2^halvings)^(2^halvings) with |x / 2^halvings| <= 1/2; each squaring at most
    # doubles the relative error and adds one unit, so the guard bits below leave room to spare.
    size = -exponent
    halvings = max(0, (2 * size.numerator // size.denominator).bit_length())
    guard = 2 * halvings + 24
    work = bits + guard
    low, high = _exp_small(-Fraction(size, 2**halvings), work)
    for _ in range(halvings):
        low = (low * low) >> work
        high = -((-high * high) >> work)
    return low >> guard, -(-high >> guard)


def exp_powers(rate: Fraction, count: int, bits: int) -> list[Bracket]:
    """Return brackets of exp(-rate * k) for k = 0 ... count - 1, by one multiplication each.

    Factors are at most 1, so step k adds at most 3 units of the guarded precision to the width.
    """
    guard = count.bit_length() + 4
    work = bits + guard
    ratio_low, ratio_high = exp_bounds(-rate, work)
    low = high = 1 << work
    brackets = []
    for _ in range(count):
        brackets.append((low >> guard, -(-high >> guard)))
        low = (low * ratio_low) >> work
        high = -((-high * ratio_high) >> work)
    return brackets


def exp_squares(rate: Fraction, count: int, bits: int) -> list[Bracket]:
    """Return brackets of exp(-rate * k^2) for k = 0 ... count - 1, by two multiplications each.

    exp(-rate (k+1)^2) = exp(-rate k^2) * exp(-rate (2k+1)), and the second factor shrinks by
    exp(-2 rate) a step. Widths grow at most with k^2, which the guard bits absorb.
    """
    guard = 2 * count.bit_length() + 6
    work = bits + guard
    step_low, step_high = exp_bounds(-rate, work)
    shrink_low, shrink_high = exp_bounds(-2 * rate, work)
    low = high = 1 << work
    brackets = []
    for _ in range(count):
        brackets.append((low >> guard, -(-high >> guard)))
        low = (low * step_low) >> work
        high = -((-high * step_high) >> work)
        step_low = (step_low * shrink_low) >> work
        step_high = -((-step_high * shrink_high) >> work)
    return brackets


def _exp_small(exponent: Fraction, bits: int) -> Bracket:
    """Return bounds of exp by its alternating series; -1/2 <= exponent <= 0."""
    numerator, denominator = -exponent.numerator, exponent.denominator
    one = 1 << bits
    low = high = one
    term_low = term_high = one
    for n in range(1, bits + 2):
        term_low = term_low * numerator // (denominator * n)
        term_high = -(-term_high * numerator // (denominator * n))
        if n % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
        if term_high <= 1:
            break
    # The terms left out alternate and shrink: together they are at most the next one.
    return low - term_high, high + term_high
