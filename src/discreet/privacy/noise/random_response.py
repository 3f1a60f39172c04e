"""Randomized response: noise that respondents add to their own answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.base.numbers import Number, least_whole, to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import RationalOdds, flip
from discreet.privacy.noise.rng import SYSTEM, WORD_BITS, Rng

_DIGITS = 10**12


def coin_response(bits: npt.ArrayLike, truth: Number, *, rng: Rng = SYSTEM) -> Integers:
    """Return each bit with probability `truth`, else the toss of a fair coin.

    Guarantee: P(yes | yes) = (1 + truth)/2 and P(yes | no) = (1 - truth)/2 exactly, so that each
        report is ln((1 + truth)/(1 - truth))-DP, replace-one; truth 1/2 gives ln 3.
        [docs/notes/0006-randomized-response.md]

    >>> int(coin_response([True] * 1000, "0.5").sum()) > 600
    True
    """
    honest = _checked_truth(truth)
    answers = _checked_bits(bits)
    tells = flip(RationalOdds(honest), answers.shape, rng)
    coins = flip(RationalOdds(Fraction(1, 2)), answers.shape, rng)
    return ((answers & tells) | (coins & ~tells)).astype(np.int64)


def coin_epsilon(truth: Number) -> Fraction:
    """Return epsilon = ln((1 + truth)/(1 - truth)) of `coin_response`, rounded up at 12 digits.

    >>> coin_epsilon("0.5")          # ln 3 = 1.0986122886681...
    Fraction(1098612288669, 1000000000000)
    """
    honest = _checked_truth(truth)
    if not honest:
        return Fraction(0)
    odds = RationalOdds(Fraction(1 - honest, 1 + honest))

    def enough(units: int) -> bool:
        bits = WORD_BITS
        while True:
            low, high = exp_bounds(Fraction(-units, _DIGITS), bits)
            least, most = odds.bounds(bits)
            if high <= least:
                return True
            if low >= most:
                return False
            bits *= 2

    top = 1
    while not enough(top):
        top *= 2
    first = top // 2 + 1
    return Fraction(least_whole(first, top, enough), _DIGITS)


def _checked_truth(truth: Number) -> Fraction:
    honest = to_fraction(truth, name="truth")
    if not 0 <= honest < 1:
        raise InvalidInput(
            "The chance of telling the truth must be at least 0 and below 1.",
            hint="Telling it always is no privacy at all.",
        )
    return honest


def _checked_bits(bits: npt.ArrayLike) -> Bits:
    array = np.asarray(bits)
    if array.dtype.kind not in "biu":
        raise InvalidInput("Answers must be true or false.")
    if array.dtype.kind != "b" and array.size and not bool(np.isin(array, (0, 1)).all()):
        raise InvalidInput("Answers must be 0 or 1.")
    return array.astype(np.bool_)
