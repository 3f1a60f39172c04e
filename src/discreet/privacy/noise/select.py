"""Private selection: exponential mechanism, permute-and-flip, and thresholds of groups (partition selection).

The mechanisms release the index only; a count shown beside it is a second charge. Candidates must
be public (or have passed a threshold). `monotone=True` is for utilities that one more unit can only
raise (or only lower), all of them at once, and neighbours that add or remove a unit: then, and only
then, the factor 2 is not needed. Utilities become integer gaps to the best candidate, on one exact lattice, and an
index is drawn exactly from weights that are known only up to a few units.

Groups come from the rows, so a group's name says that somebody is in it. A group appears only if its
noisy number of distinct units reaches a threshold that a group of one unit almost never reaches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.base.numbers import Delta, Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import BITS, ExpTable, Gaps, exp_table, flip_exp
from discreet.privacy.noise.laws import NoiseLaw
from discreet.privacy.noise.rng import SYSTEM, Rng, Words, below, is_below, wide_product
from discreet.privacy.noise.tails import Tail

_CELLS = 1 << 20  # of one batch of rows: bounds the memory, not the outcome
_WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class UtilityGaps:
    """Rows of candidates, how far each lies behind the best of its row, and the rate of decay.

    A gap of g means a factor exp(-g * rate) in the exponential mechanism.
    """

    gaps: Gaps
    rate: Fraction

    @property
    def rows(self) -> int:
        """Return how many choices are to be made."""
        return int(self.gaps.shape[0])

    @property
    def candidates(self) -> int:
        """Return how many candidates each choice has."""
        return int(self.gaps.shape[1])

    def batches(self) -> Iterator[slice]:
        """Return slices of rows of bounded size, for work in limited memory."""
        step = max(1, _CELLS // self.candidates)
        for start in range(0, self.rows, step):
            yield slice(start, start + step)


def utility_gaps(
    utilities: npt.ArrayLike,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    monotone: bool,
    dimensions: int,
) -> UtilityGaps:
    """Return the gaps of `utilities` (candidates last) and the rate epsilon / (2 * sensitivity).

    `monotone` drops the 2. Integers in a numpy array take the same time whatever they are; other
    numbers mean what they print as and are put on their least common lattice.
    """
    spread = to_fraction(sensitivity, name="sensitivity")
    if spread <= 0:
        raise InvalidInput("The sensitivity of a utility must be greater than 0.")
    amount = Epsilon.of(epsilon).value
    array = np.asarray(utilities)
    if array.ndim != dimensions or array.shape[-1] == 0:
        raise InvalidInput(
            f"Utilities must be an array of {dimensions} dimension(s) with at least one candidate."
        )
    table = array.reshape(-1, array.shape[-1])
    gaps, denominator = (_integer_gaps(table), 1) if array.dtype.kind in "iu" else _gaps(table)
    moves = 1 if monotone else 2
    return UtilityGaps(
        gaps, amount * Fraction(spread.denominator, spread.numerator * denominator * moves)
    )


def _integer_gaps(table: npt.NDArray[np.integer]) -> Gaps:
    # Subtraction modulo 2^64 is exact: the true difference lies in 0 .. 2^64 - 1.
    wide = table.astype(np.uint64 if table.dtype.kind == "u" else np.int64)
    best = wide.max(axis=1, keepdims=True)
    gaps: Gaps = best.view(np.uint64) - wide.view(np.uint64)
    return gaps


def _gaps(table: npt.NDArray[np.generic]) -> tuple[Gaps, int]:
    """Return exact gaps of any numbers, in units of one over the returned denominator."""
    values = [to_fraction(value, name="a utility") for value in table.reshape(-1).tolist()]
    denominator = math.lcm(*{value.denominator for value in values})
    units = np.empty(len(values), dtype=object)
    units[:] = [value.numerator * (denominator // value.denominator) for value in values]
    rows = units.reshape(table.shape)
    gaps: Gaps = rows.max(axis=1, keepdims=True) - rows
    fits = not gaps.size or int(gaps.max()) < _WORD
    return (gaps.astype(np.uint64) if fits else gaps), denominator


class WeightedDraw:
    """Exact inverse sampling from weights that are known only up to a few units.

    Candidate i owns floor(weight * word / 2^shift) tickets, plus `spare` tickets that together
    hold the rest of its true weight. A spare ticket counts with the probability that is missing;
    one that does not count means a new draw. So every draw that counts follows the exact law.
    """

    def __init__(self, tables: ExpTable, weights: Words) -> None:
        self.tables = tables
        self.weights = weights
        # Sum of weights <= 2^(shift - 2), so that all tickets together stay below 2^62.
        self.shift = (int(weights.sum()) - 1).bit_length() + 2
        self.factors = weights << np.uint64(64 - self.shift)
        # A weight of at most 2^(shift - 2) leaves less than slack/4 + 1 units.
        self.spare = tables.slack // 4 + 2

    def draw(self, gaps: Gaps, rng: Rng) -> Integers:
        """Return one index for each row of gaps.

        Guarantee: P(i) is exactly proportional to weight(i) * exp(-gap(i) * rate). Passes over
            the tickets do not stop early; a new draw has a probability below 2^-20 for up to a
            million even weights. [docs/notes/0004-exact-selection.md]
        """
        rows, candidates = gaps.shape
        words = self.tables.words(gaps.reshape(-1)).reshape(gaps.shape)
        tickets, _ = wide_product(words, self.factors)
        until = np.cumsum(tickets, axis=1, dtype=np.uint64)
        totals = until[:, -1] + np.uint64(self.spare * candidates)
        chosen = np.zeros(rows, dtype=np.int64)
        pending = np.arange(rows)
        while pending.size:
            drawn = below(totals[pending], rng)
            ends = until if pending.size == rows else until[pending]
            chosen[pending] = (ends <= drawn[:, None]).sum(axis=1, dtype=np.int64)
            again = []
            for lane in np.flatnonzero(chosen[pending] == candidates):
                row = pending[lane]
                index, unit = divmod(int(drawn[lane]) - int(until[row, -1]), self.spare)
                rest = self._rest(int(gaps[row, index]), index, int(tickets[row, index]) + unit)
                if is_below(0, 0, rest.bounds, rng):
                    chosen[row] = index
                else:
                    again.append(row)
            pending = np.array(again, dtype=np.intp)
        return chosen

    def _rest(self, gap: int, index: int, counted: int) -> _Rest:
        weight = int(self.weights[index])
        return _Rest(gap * self.tables.rate, weight, BITS - self.shift, counted)


@dataclass(frozen=True, slots=True)
class _Rest:
    """The part of weight * 2^bits * exp(-exponent) between `counted` and `counted` + 1."""

    exponent: Fraction
    weight: int
    precision: int
    counted: int

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return certified bounds of 2^bits times that part."""
        guard = self.weight.bit_length()
        low, high = exp_bounds(-self.exponent, bits + self.precision + guard)
        floor = (self.weight * low >> guard) - (self.counted << bits)
        ceiling = -(-self.weight * high >> guard) - (self.counted << bits)
        one = 1 << bits
        return min(max(floor, 0), one), min(max(ceiling, 0), one)


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


_FIRST_BITS = 64


@dataclass(frozen=True, slots=True)
class Appearing:
    """The noisy number of units of every group, and which groups may be shown.

    Nothing of a group that is not kept may leave: neither its name nor its noisy number.
    """

    noisy: Integers
    keep: Bits


def threshold_for(noise: NoiseLaw, delta: Number | Delta, *, max_groups: int) -> int:
    """Return the least threshold at which a unit alone in `max_groups` groups risks at most delta.

    With Gaussian noise of sigma above 4,096 it may lie above the least by 1/100 sigma.

    Guarantee: if a unit is in at most `max_groups` groups and counts once in each, the chance that
        any group appears in which it is alone is at most delta: the chances add up. Decided with
        certified bounds. [docs/notes/0005-thresholds-and-sparse-vector.md]

    >>> from discreet.privacy.noise.laws import LaplaceLaw
    >>> threshold_for(LaplaceLaw.of(1), "1e-9", max_groups=1)
    22
    """
    risk = Delta.of(delta).value
    if risk <= 0:
        raise InvalidInput(
            "Private groups need a delta above 0.",
            hint="Declare the groups as public keys, or set delta, such as 1e-9.",
        )
    _checked_groups(max_groups)
    share = risk * Fraction(1, max_groups)
    tail, bits = noise.one_sided, _FIRST_BITS
    while True:
        distance = _least_distance(tail, share, bits)
        low, _ = tail.bounds(distance - 1, bits)
        if low > share or not tail.sharp:
            return distance + 1  # the group of one unit holds 1 + X
        bits *= 2


def keep_groups(
    counts: npt.ArrayLike, noise: NoiseLaw, threshold: int, *, rng: Rng = SYSTEM
) -> Appearing:
    """Return noisy numbers of distinct units and which groups reach the threshold.

    `counts` holds the exact number of distinct units of each group that has any.

    Guarantee: (epsilon, delta)-DP with the epsilon (or rho) of the noise for a unit that moves
        `max_groups` counts by one each, and the delta of `threshold_for`: in the ledger's words
        `Failing(Laplace or Gaussian, delta)`. [docs/notes/0005-thresholds-and-sparse-vector.md]

    >>> from discreet.privacy.noise.laws import LaplaceLaw
    >>> keep_groups([1, 10**6], LaplaceLaw.of(1), 1000).keep.tolist()
    [False, True]
    """
    exact = np.asarray(counts)
    if exact.ndim != 1 or (exact.size and exact.dtype.kind not in "iu"):
        raise InvalidInput("The numbers of units must be a list of integers.")
    noisy = exact.astype(np.int64) + noise.draw(exact.size, rng)
    return Appearing(noisy, noisy >= threshold)


def _least_distance(tail: Tail, share: Fraction, bits: int) -> int:
    """Return the least m whose upper bound of P(X >= m) is at most `share`."""

    def small(m: int) -> bool:
        return tail.bounds(m, bits)[1] <= share

    high, step = 1, 1
    while not small(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while small(low):
        low, step = low - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if small(middle) else (middle, high)
    return high


def _checked_groups(max_groups: int) -> None:
    if max_groups < 1:
        raise InvalidInput("max_groups must be at least 1.")
