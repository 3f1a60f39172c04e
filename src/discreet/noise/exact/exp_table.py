"""Certified words of exp(-gap * rate) for whole arrays of integer gaps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits
from discreet.errors import InternalError
from discreet.noise.exact.certified import exp_powers
from discreet.noise.exact.wide_multiply import wide_product
from discreet.noise.rng import Words

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
