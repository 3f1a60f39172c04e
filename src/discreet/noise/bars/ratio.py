"""Error bars of a quotient of two noisy numbers: Fieller's set, and a simpler safe box."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.numbers import Number, to_fraction
from discreet.noise.bars.spread import combined_half_width
from discreet.noise.laws import NoiseLaw, to_confidence

GRID = 1 << 12
HALVINGS = 20  # a millionth of the width


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A released number and the law of the noise in it, counted in steps of `unit`."""

    value: Fraction
    law: NoiseLaw
    unit: Fraction = Fraction(1)

    def half_width(self, confidence: Number) -> Fraction:
        """Return how far the number may be from the truth, with this confidence."""
        return self.unit * self.law.half_width(confidence)


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """Where the quotient of the two true values lies; infinite ends say that nothing is known."""

    low: float
    high: float

    @property
    def bounded(self) -> bool:
        """Return whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


EVERYTHING = RatioInterval(-math.inf, math.inf)


def ratio_interval(
    numerator: NoisyNumber, denominator: NoisyNumber, confidence: Number
) -> RatioInterval:
    """Return Fieller's interval for true numerator / true denominator, noises independent.

    A quotient q is kept when numerator - q * denominator is no further from 0 than its own noise
    may be, whose half width comes from the two noise laws and not from a normal curve.

    Guarantee: holds the true quotient with at least the confidence, for every true value, where
        the set is an interval; unbounded where the denominator itself may be 0. [note 0003]
    """
    level = to_confidence(confidence)
    centre = denominator.value
    if abs(centre) <= denominator.half_width(level):
        return EVERYTHING
    guess = numerator.value / centre

    def refuted(quotient: Fraction) -> bool:
        terms = [(numerator.unit, numerator.law), (-quotient * denominator.unit, denominator.law)]
        width = combined_half_width(terms, level, cells=GRID)
        return abs(float(numerator.value - quotient * centre)) > width

    first = (numerator.half_width(level) + abs(guess) * denominator.half_width(level)) / abs(centre)
    low = _edge(refuted, guess, -first)
    high = _edge(refuted, guess, first)
    return RatioInterval(math.nextafter(low, -math.inf), math.nextafter(high, math.inf))


def ratio_box(
    numerator: NoisyNumber, denominator: NoisyNumber, confidence: Number
) -> RatioInterval:
    """Return all quotients of two numbers that are each within their own error bar.

    Guarantee: holds the true quotient with at least the confidence, whatever the two noises have to
        do with each other: each may fail with half of what is left (Bonferroni).
    """
    each = (1 + to_confidence(confidence)) / 2
    over, under = numerator.half_width(each), denominator.half_width(each)
    if abs(denominator.value) <= under:
        return EVERYTHING
    corners = [
        (numerator.value + a) / (denominator.value + b)
        for a in (-over, over)
        for b in (-under, under)
    ]
    return RatioInterval(
        math.nextafter(float(min(corners)), -math.inf),
        math.nextafter(float(max(corners)), math.inf),
    )


def noisy_number(value: Number, law: NoiseLaw, unit: Number = 1) -> NoisyNumber:
    """Return the number with its noise law; `unit` is the lattice step that the law counts."""
    return NoisyNumber(to_fraction(value, name="value"), law, to_fraction(unit, name="unit"))


def _edge(refuted: Callable[[Fraction], bool], inside: Fraction, step: Fraction) -> float:
    """Return where, going from `inside` in the direction of `step`, quotients become refuted."""
    outside = inside + step
    for _ in range(200):
        if refuted(outside):
            break
        step *= 2
        inside, outside = outside, outside + step
    else:
        return math.inf if step > 0 else -math.inf
    for _ in range(HALVINGS):
        # Few digits: exact halving would make the numbers, and the lattice, ever longer.
        middle = Fraction((inside + outside) / 2).limit_denominator(10**9)
        if middle in (inside, outside):
            break
        if refuted(middle):
            outside = middle
        else:
            inside = middle
    return float(outside)
