"""Exact coins and uniform integers: the dice below every choice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.errors import InvalidInput
from discreet.noise.exact.exp_table import Gaps, exp_table
from discreet.noise.exact.real_coins import DrawShape, ExpOdds
from discreet.noise.exact.refine import WORD_BITS, is_below
from discreet.noise.exact.wide_multiply import below, below_small
from discreet.noise.rng import SYSTEM, Rng

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
