"""Private selection: exponential mechanism and permute-and-flip.

Each function releases the index only; a count shown beside it is a second charge. Candidates must
be public (or have passed a threshold). `monotone=True` is for utilities that one more unit can only
raise (or only lower), all of them at once, and neighbours that add or remove a unit: then, and only
then, the factor 2 is not needed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Epsilon, Number
from discreet.errors import InvalidInput
from discreet.noise.exact.coins import flip_exp
from discreet.noise.exact.exp_table import exp_table
from discreet.noise.exact.utility_lattice import UtilityGaps, utility_gaps
from discreet.noise.exact.weighted_draw import WeightedDraw
from discreet.noise.exact.wide_multiply import below
from discreet.noise.rng import SYSTEM, Rng, Words

_WIDEST = 1 << 40  # the sum of all weights after taking out their common divisor


def exponential(
    utilities: npt.ArrayLike,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    monotone: bool = False,
    weights: npt.ArrayLike | None = None,
    rng: Rng = SYSTEM,
) -> int:
    """Return an index with P(o) proportional to weight(o) * exp(epsilon * u(o) / (2 * sensitivity)).

    Guarantee: epsilon-DP, and bounded range (`core.event.Select`), for utilities that move by at
    most `sensitivity` between neighbours and public weights; the law is exact.
        [McSherry and Talwar 2007; docs/notes/0004-exact-selection.md]

    >>> exponential([0, 10**6, 3], sensitivity=1, epsilon=1)
    1
    """
    contest = utility_gaps(utilities, sensitivity, epsilon, monotone=monotone, dimensions=1)
    return int(_exponential(contest, weights, rng)[0])


def exponential_rows(
    utilities: npt.ArrayLike,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    monotone: bool = False,
    weights: npt.ArrayLike | None = None,
    rng: Rng = SYSTEM,
) -> Integers:
    """Return one index for each row of (groups x candidates), each as `exponential` would.

    Guarantee: each row by itself as in `exponential`; rows are independent, so they cost epsilon
    together only where one unit can move one row, and otherwise add up.
    """
    contest = utility_gaps(utilities, sensitivity, epsilon, monotone=monotone, dimensions=2)
    return _exponential(contest, weights, rng)


def permute_and_flip(
    utilities: npt.ArrayLike,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    monotone: bool = False,
    rng: Rng = SYSTEM,
) -> int:
    """Return an index by permute-and-flip; its expected loss is never above `exponential`'s.

    Guarantee: epsilon-DP (`core.event.Pure`); the law is exact. Every candidate's coin is flipped
    and the winner is uniform among the heads: the first head of a random order.
        [McKenna and Sheldon 2020; docs/notes/0004-exact-selection.md]

    >>> permute_and_flip([0, 10**6, 3], sensitivity=1, epsilon=1)
    1
    """
    contest = utility_gaps(utilities, sensitivity, epsilon, monotone=monotone, dimensions=1)
    return int(_permute_and_flip(contest, rng)[0])


def _permute_and_flip(contest: UtilityGaps, rng: Rng) -> Integers:
    chosen = np.empty(contest.rows, dtype=np.int64)
    for rows in contest.batches():
        gaps = contest.gaps[rows]
        heads = flip_exp(gaps.reshape(-1), contest.rate, rng).reshape(gaps.shape)
        chosen[rows] = _pick(heads, rng)
    return chosen


def _pick(eligible: Bits, rng: Rng) -> Integers:
    """Return, for each row, a uniform choice among its eligible candidates (at least one)."""
    order = np.cumsum(eligible, axis=1, dtype=np.int64)
    rank = below(order[:, -1].astype(np.uint64), rng).astype(np.int64)
    position: Integers = (order <= rank[:, None]).sum(axis=1, dtype=np.int64)
    return position


def _exponential(contest: UtilityGaps, weights: npt.ArrayLike | None, rng: Rng) -> Integers:
    scale, kept = _scale(weights, contest.candidates)
    gaps = contest.gaps
    if kept.size < contest.candidates:
        # The best must be sought among candidates that can be chosen at all.
        gaps = gaps[:, kept]
        gaps = gaps - gaps.min(axis=1, keepdims=True)
    field = UtilityGaps(gaps, contest.rate)
    weighted = WeightedDraw(exp_table(contest.rate), scale)
    chosen = np.empty(contest.rows, dtype=np.int64)
    for rows in field.batches():
        chosen[rows] = weighted.draw(gaps[rows], rng)
    return kept[chosen]


def _scale(weights: npt.ArrayLike | None, candidates: int) -> tuple[Words, Integers]:
    """Return the positive weights without their common divisor, and where they stand."""
    if weights is None:
        return np.ones(candidates, dtype=np.uint64), np.arange(candidates, dtype=np.int64)
    whole = np.asarray(weights)
    if whole.dtype.kind not in "iu" or whole.shape != (candidates,) or int(whole.max()) < 1:
        raise InvalidInput("Weights must be integers, one for each candidate, not all of them 0.")
    if int(whole.min()) < 0:
        raise InvalidInput("Weights must not be negative.")
    kept = np.flatnonzero(whole).astype(np.int64)
    positive = whole[kept].astype(np.uint64)
    positive //= np.gcd.reduce(positive)
    # Each is checked first: their sum could wrap around.
    if int(positive.max()) > _WIDEST or int(positive.sum()) > _WIDEST:
        raise InvalidInput(
            "The weights of the candidates are too uneven.", hint="Use fewer or wider bins."
        )
    return positive, kept
