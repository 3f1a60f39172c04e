"""Certified weights of the tables' outcomes: what is proportional to each one's probability.

Two families. *Two-sided* weights list a magnitude's law on the positive side and then on the
negative side; the last entry of each side stands for all magnitudes from there on, so that nothing
is cut off. *Digit* weights are finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Protocol

from discreet.noise.exact.certified import Bracket, exp_bounds, exp_powers, exp_squares


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
