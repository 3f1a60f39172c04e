"""Coins whose probability is a real number that is known to any precision asked for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np

from discreet.core.arrays import Bits
from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.refine import WORD_BITS, is_below
from discreet.noise.rng import Rng

DrawShape: TypeAlias = int | tuple[int, ...]

_GREATEST = (1 << WORD_BITS) - 1


class Odds(Protocol):
    """A probability, given by certified bounds."""

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return integers low <= 2^bits * probability <= high whose distance stays bounded."""
        ...


@dataclass(frozen=True, slots=True)
class RationalOdds:
    """The probability `value`, a fraction between 0 and 1."""

    value: Fraction

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return the floor and the ceiling of 2^bits times the probability."""
        scaled = self.value.numerator << bits
        return scaled // self.value.denominator, -(-scaled // self.value.denominator)


@dataclass(frozen=True, slots=True)
class ExpOdds:
    """The probability exp(-exponent) for a rational exponent of at least 0."""

    exponent: Fraction

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return certified bounds of 2^bits times the probability."""
        return exp_bounds(-self.exponent, bits)


def flip(odds: Odds, size: DrawShape, rng: Rng) -> Bits:
    """Return independent coins that are True with exactly the probability `odds`.

    Guarantee: exact. A word is compared with certified bounds of the probability; a draw between
    them is refined by further words without a limit on the depth.
    """
    low, high = odds.bounds(WORD_BITS)
    count = int(np.prod(size, dtype=np.int64))
    words = rng.words(count)
    # Clipping to a word only widens the band of draws that are settled exactly.
    first_unsure, last_unsure = np.uint64(min(low, _GREATEST)), np.uint64(min(high, _GREATEST))
    flips: Bits = words < first_unsure
    unsure = (words >= first_unsure) & (words <= last_unsure)
    for lane in np.flatnonzero(unsure):
        flips[lane] = is_below(int(words[lane]), WORD_BITS, odds.bounds, rng)
    return flips.reshape(size)
