"""Randomized response: noise that respondents add to their own answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Epsilon, Number, least_whole, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.coins import uniform
from discreet.noise.exact.real_coins import RationalOdds, TruthOdds, flip
from discreet.noise.exact.refine import WORD_BITS
from discreet.noise.rng import SYSTEM, Rng

_MOST_CODES = 1 << 31
_DIGITS = 10**12


def randomized_response(
    bits: npt.ArrayLike, epsilon: Number | Epsilon, *, rng: Rng = SYSTEM
) -> Integers:
    """Return each bit as 0 or 1, kept with probability exactly e^epsilon / (1 + e^epsilon), else negated.

    Guarantee: each report is epsilon-DP for its own respondent, replace-one (`core.event.Pure`).
        Exact coin. [Warner 1965; docs/notes/0006-randomized-response.md]

    >>> randomized_response([True, False], epsilon=80).tolist()
    [1, 0]
    """
    truth = _checked_bits(bits)
    odds = TruthOdds(Epsilon.of(epsilon).value, others=1)
    return (truth ^ ~flip(odds, truth.shape, rng)).astype(np.int64)


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


def randomized_response_kary(
    codes: npt.ArrayLike, k: int, epsilon: Number | Epsilon, *, rng: Rng = SYSTEM
) -> Integers:
    """Return each code of 0 .. k-1 with probability e^epsilon / (e^epsilon + k - 1), else another.

    Guarantee: each report is epsilon-DP for its own respondent, replace-one (`core.event.Pure`).
        Each of the k - 1 other codes has the same chance, 1 / (e^epsilon + k - 1). Exact; the
        same work whatever the code. [docs/notes/0006-randomized-response.md]

    >>> randomized_response_kary([0, 2, 1], 3, epsilon=80).tolist()
    [0, 2, 1]
    """
    if not 2 <= k <= _MOST_CODES:
        raise InvalidInput("A choice needs between 2 and 2^31 possible answers.")
    truth = np.asarray(codes)
    if truth.dtype.kind not in "iu":
        raise InvalidInput("Codes must be integers.")
    if truth.size and (int(truth.min()) < 0 or int(truth.max()) >= k):
        raise InvalidInput("A code lies outside 0 .. k-1.")
    own = truth.astype(np.int64)
    keep = flip(TruthOdds(Epsilon.of(epsilon).value, others=k - 1), own.shape, rng)
    other = uniform(k - 1, own.shape, rng=rng)
    other += other >= own  # skips the respondent's own code
    # Arithmetic instead of a branch: no lane does more work than another.
    return other + (own - other) * keep


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
