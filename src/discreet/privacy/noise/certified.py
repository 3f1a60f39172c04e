"""Certified integer bounds of the exponential function, and of weights made of it: what every sampler stands on.

Fixed-point numbers are integers counted in units of 2^-bits. Each operation rounds outwards, so the
true value always lies between the two integers returned. No floating point.

The weights of a table's outcomes are proportional to each one's probability. Two families. *Two-sided* weights
list a magnitude's law on the positive side and then on the negative side; the last entry of each side stands for
all magnitudes from there on, so that nothing is cut off. *Digit* weights are finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Protocol, TypeAlias

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


class Weights(Protocol):
    """A list of positive real weights, known to any precision."""

    def brackets(self, bits: int) -> list[Bracket]:
        """Return integers low <= 2^bits * weight <= high for each outcome, in order."""
        ...


@dataclass(frozen=True, slots=True)
class GeometricDigits:
    """exp(-k/scale) for 0 <= k < count: a geometric number modulo `count`."""

    scale: Fraction
    count: int

    def brackets(self, bits: int) -> list[Bracket]:
        """Return integers low <= 2^bits * weight <= high for each outcome, in order."""
        return exp_powers(Fraction(1, self.scale), self.count, bits)


@dataclass(frozen=True, slots=True)
class GeometricSides:
    """exp(-j/scale), j = 0 ... last on the positive side; the same times exp(-step) on the negative.

    The last entry of a side is the sum of all weights from there on. `step` is how much one lattice
    point weighs less than the one before it: 1/scale where the magnitudes are not split further.
    """

    scale: Fraction
    last: int
    step: Fraction

    def brackets(self, bits: int) -> list[Bracket]:
        """Return integers low <= 2^bits * weight <= high for each outcome, in order."""
        # 1 - t may be small: the scale's own size in bits keeps the quotient's precision.
        guard = 2 * (self.scale.numerator // self.scale.denominator + 1).bit_length() + 4
        work = bits + guard
        powers = exp_powers(Fraction(1, self.scale), self.last + 1, work)
        one = 1 << work
        low, high = powers[self.last]
        powers[self.last] = (
            low * one // (one - powers[1][0]),
            -(-high * one // (one - powers[1][1])),
        )
        step_low, step_high = exp_bounds(-self.step, work)
        mirrored = [(low * step_low >> work, -(-high * step_high >> work)) for low, high in powers]
        return [(low >> guard, -(-high >> guard)) for low, high in powers + mirrored]


@dataclass(frozen=True, slots=True)
class GaussianSides:
    """exp(-j^2 / (2 variance)) for j = start ... start + last, for each start in turn.

    The last entry of a side is the sum of all weights from there on. Starts are (0, 1) for a signed
    integer (zero belongs to the positive side only) and (0,) for a magnitude.
    """

    variance: Fraction
    last: int
    starts: tuple[int, ...]

    def brackets(self, bits: int) -> list[Bracket]:
        """Return integers low <= 2^bits * weight <= high for each outcome, in order."""
        count = self._count(bits)
        guard = count.bit_length() + 4
        squares = exp_squares(Fraction(1, 2 * self.variance), count, bits + guard)
        # Each term beyond `count` is below 2^-(bits + 40), so below one unit here, and they fall at
        # least like a geometric series of ratio exp(-count / variance).
        excess = self.variance.numerator // (self.variance.denominator * count) + 2
        sides = []
        for start in self.starts:
            tail = squares[start + self.last :]
            low, high = sum(low for low, _ in tail), sum(high for _, high in tail) + excess
            sides += [*squares[start : start + self.last], (low, high)]
        return [(low >> guard, -(-high >> guard)) for low, high in sides]

    def _count(self, bits: int) -> int:
        """Return how many terms to add up so that each later one is below 2^-(bits + 40)."""
        # exp(-k^2 / 2v) < 2^-b as soon as k^2 > 2 v b ln 2, and 2 ln 2 < 7/5.
        square = 7 * (bits + 40) * self.variance.numerator // (5 * self.variance.denominator) + 1
        return max(isqrt(square), self.last + 2) + 2
