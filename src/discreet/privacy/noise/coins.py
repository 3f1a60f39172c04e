"""Exact coins and uniform integers: coins of real probability, and of exp(-gap * rate) for arrays of gaps.

The probability of a coin is known to any precision asked for. For whole arrays of integer gaps, tables hold
certified words of exp(-gap * rate).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.noise.certified import exp_bounds, exp_powers
from discreet.privacy.noise.rng import (
    SYSTEM,
    WORD_BITS,
    Rng,
    Words,
    below,
    below_small,
    is_below,
    wide_product,
)

Gaps: TypeAlias = npt.NDArray[Any]
"""Integers of at least 0: an array of uint64, or of Python's own integers (dtype object)."""

BITS = 63  # exp(0) = 2^63 still fits in a word
DIGIT = 8  # bits of one digit of a gap
_GUARD = 27  # besides the bits that the multiplications lose
_NOTHING = 44  # exp(-44) < 2^-63
_ENTRY_SLACK = 2


@dataclass(frozen=True, slots=True)
class ExpTable:
    """Tables of exp(-digit * 256^place * rate) for each byte of a gap.

    `places` and all work that follows depend on the rate alone, never on a gap.
    """

    rate: Fraction
    tables: tuple[Words, ...]

    @property
    def places(self) -> int:
        """Return how many bytes of a gap matter; any byte beyond makes the word 0."""
        return len(self.tables)

    @property
    def slack(self) -> int:
        """Return the greatest error of a word, in units of 2^-63."""
        return 3 * self.places

    def words(self, gaps: Gaps) -> Words:
        """Return words w with w <= 2^63 * exp(-gap * rate) <= w + slack.

        Guarantee: certified. Each table entry is at most 2 below the truth; a product of words
        a, b <= 2^63, floored, is at most err(a) + err(b) + 1 below it (the product of the two
        errors is below 2^-50 and does not reach the next integer: it is paid for by the third
        unit of the first place). [docs/notes/0004-exact-selection.md, lemma 2]
        """
        product: Words = self.tables[0][_digit(gaps, 0)]
        for place in range(1, self.places):
            if gaps.dtype != object and place * DIGIT >= BITS + 1:
                break
            high, low = wide_product(product, self.tables[place][_digit(gaps, place)])
            product = (high << np.uint64(1)) | (low >> np.uint64(BITS))
        # By a mask, not by an index: an index takes longer the more gaps are beyond.
        product &= _beyond(gaps, self.places).astype(np.uint64) - np.uint64(1)
        return product


def _digit(gaps: Gaps, place: int) -> npt.NDArray[np.intp]:
    if gaps.dtype == object:
        digits: npt.NDArray[np.intp] = ((gaps >> (DIGIT * place)) & 255).astype(np.intp)
        return digits
    return ((gaps >> np.uint64(DIGIT * place)) & np.uint64(255)).astype(np.intp)


def _beyond(gaps: Gaps, places: int) -> Bits:
    beyond: Bits
    if gaps.dtype == object:
        beyond = (gaps >> (DIGIT * places)).astype(bool)
    elif places * DIGIT > BITS:
        beyond = np.zeros(gaps.shape, dtype=np.bool_)
    else:
        beyond = (gaps >> np.uint64(DIGIT * places)) != 0
    return beyond


@lru_cache(maxsize=64)
def exp_table(rate: Fraction) -> ExpTable:
    """Return the tables for a positive rate."""
    places = 1
    while rate * (1 << DIGIT * places) < _NOTHING:
        places += 1
    return ExpTable(rate, tuple(_table(rate * (1 << DIGIT * place)) for place in range(places)))


def _table(rate: Fraction) -> Words:
    """Return lower words of exp(-digit * rate) for the digits 0 .. 255, at most 2 too low."""
    entries = np.empty(1 << DIGIT, dtype=np.uint64)
    for digit, (low, high) in enumerate(exp_powers(rate, 1 << DIGIT, BITS + _GUARD)):
        floor, ceiling = low >> _GUARD, -(-high >> _GUARD)
        if ceiling - floor > _ENTRY_SLACK:
            raise InternalError("a table of certified exponentials is too wide")
        entries[digit] = floor
    entries.flags.writeable = False
    return entries


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


_MOST = 1 << 63
_SMALL = 1 << 32


def uniform(count: int, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return independent integers, exactly uniform on 0 .. count - 1.

    >>> uniform(1, 3).tolist()
    [0, 0, 0]
    """
    if not 1 <= count <= _MOST:
        raise InvalidInput("A uniform choice needs between 1 and 2^63 possibilities.")
    draws = int(np.prod(size, dtype=np.int64))
    if count <= _SMALL:
        return below_small(count, draws, rng).view(np.int64).reshape(size)
    totals = np.full(draws, count, dtype=np.uint64)
    return below(totals, rng).view(np.int64).reshape(size)


def flip_exp(gaps: Gaps, rate: Fraction, rng: Rng) -> Bits:
    """Return independent coins for a flat array of gaps, each True with probability exactly exp(-gap * rate).

    Guarantee: exact. One word a coin and the same arithmetic for every gap; a draw between certified
    bounds of the probability is refined by further words without a limit on the depth.
    """
    words = rng.words(gaps.size)
    if rate == 0:
        return np.ones(gaps.size, dtype=np.bool_)
    tables = exp_table(rate)
    lower = tables.words(gaps)
    drawn = words >> np.uint64(1)  # the first 63 bits of U, to stand beside 63-bit bounds
    flips: Bits = drawn < lower
    unsure = ~flips & (drawn < lower + np.uint64(tables.slack))
    for lane in np.flatnonzero(unsure):
        odds = ExpOdds(int(gaps[lane]) * rate)
        flips[lane] = is_below(int(words[lane]), WORD_BITS, odds.bounds, rng)
    return flips
