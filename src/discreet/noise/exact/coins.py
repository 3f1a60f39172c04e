"""Exact coins and uniform integers: the dice below every choice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Number, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.exact.exp_table import Gaps, exp_table
from discreet.noise.exact.real_coins import DrawShape, ExpOdds, RationalOdds, flip
from discreet.noise.exact.refine import WORD_BITS, is_below
from discreet.noise.exact.wide_multiply import below, below_small
from discreet.noise.rng import SYSTEM, Rng

_MOST = 1 << 63
_SMALL = 1 << 32


def bernoulli(probability: Number, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return independent coins, 1 with exactly the rational probability that was written, else 0.

    Guarantee: exact. Each coin compares a 64-bit word with the binary expansion of the
    probability and draws further words only while they agree, without a limit on the depth.

    >>> bernoulli(1, 3).tolist(), bernoulli("0", 2).tolist()
    ([1, 1, 1], [0, 0])
    """
    value = to_fraction(probability, name="probability")
    if not 0 <= value <= 1:
        raise InvalidInput("A probability must lie between 0 and 1.")
    return flip(RationalOdds(value), size, rng).astype(np.int64)


def bernoulli_exp(gaps: npt.ArrayLike, rate: Number, *, rng: Rng = SYSTEM) -> Bits:
    """Return independent coins, each True with probability exactly exp(-gap * rate).

    `gaps` are integers of at least 0 in any shape; `rate` is a rational of at least 0.

    Guarantee: exact; one word a coin and the same arithmetic for every gap. The word is compared
    with certified bounds of the probability that are 2^-57 apart; a draw between them is settled
    with big integers. [docs/notes/0004-exact-selection.md]

    >>> bernoulli_exp([0, 0], "0.5").tolist()
    [True, True]
    """
    value = to_fraction(rate, name="rate")
    if value < 0:
        raise InvalidInput("The rate of a coin must not be negative.")
    checked = _checked_gaps(gaps)
    flat = checked.reshape(-1)
    return flip_exp(flat, value, rng).reshape(checked.shape)


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
    """Return the coins of `bernoulli_exp` for a flat array of gaps that is known to be right."""
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


def _checked_gaps(gaps: npt.ArrayLike) -> Gaps:
    array = np.asarray(gaps)
    if array.dtype.kind == "u":
        return array.astype(np.uint64)
    if array.dtype.kind != "i":
        raise InvalidInput("Gaps must be integers.")
    if array.size and int(array.min()) < 0:
        raise InvalidInput("Gaps must not be negative.")
    return array.astype(np.uint64)
