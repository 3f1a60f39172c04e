"""The sparse vector technique: which of many questions pass a threshold, paying for few of them.

Only "above" or "below" is released. The pitfalls that Lyu, Su and Li (2017) list are closed off:
the noise of a question grows with the cutoff and with both sides' moves, the threshold has noise of
its own, every question gets fresh noise, nothing is answered after the cutoff, and no noisy value is
ever shown (that is a second charge).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.additive import discrete_laplace
from discreet.noise.rng import SYSTEM, Rng

_MOST_CUTOFF = 1 << 20
_FARTHEST = 1 << 61


@dataclass(frozen=True, slots=True)
class SparseScales:
    """The two noise scales that make `cutoff` answers "above" cost epsilon in all."""

    threshold: Fraction
    question: Fraction
    cutoff: int


@dataclass(frozen=True, slots=True)
class SparseAnswers:
    """Which questions were above; only the first `asked` of each row were answered at all."""

    above: Bits
    asked: Integers


def sparse_scales(
    sensitivity: Number, epsilon: Number | Epsilon, *, cutoff: int = 1, monotone: bool = False
) -> SparseScales:
    """Return the noise scales: epsilon is split 1 : r between threshold and questions.

    r is the integer nearest to (2 * cutoff)^(2/3) from above, near the least total variance; any
    public split is sound. `monotone`: one unit moves all answers the same way, add/remove only.
    """
    spread = to_fraction(sensitivity, name="sensitivity")
    if spread <= 0:
        raise InvalidInput("The sensitivity of the questions must be greater than 0.")
    if not 1 <= cutoff <= _MOST_CUTOFF:
        raise InvalidInput("The cutoff must be at least 1.")
    moves = cutoff if monotone else 2 * cutoff
    share = 1
    while share**3 < moves**2:
        share += 1
    amount = Epsilon.of(epsilon).value
    unit = spread * Fraction(amount.denominator * (1 + share), amount.numerator)
    return SparseScales(unit, unit * Fraction(moves, share), cutoff)


def above_threshold(
    answers: npt.ArrayLike,
    threshold: int,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    cutoff: int = 1,
    monotone: bool = False,
    rng: Rng = SYSTEM,
) -> SparseAnswers:
    """Return which integer answers pass the threshold, up to the cutoff-th that does.

    `answers` is one stream, or rows of independent streams. Each row is a release of its own.

    Guarantee: epsilon-DP for each row (`core.event.Pure`), for any number of questions, each of
        which moves by at most `sensitivity` between neighbours. Exact integer noise; all noise is
        drawn whatever the answers are. [docs/notes/0005-thresholds-and-sparse-vector.md]

    >>> above_threshold([0, 5, 10**6, 7], 1000, sensitivity=1, epsilon=1).above.tolist()
    [False, False, True, False]
    """
    array = np.asarray(answers)
    if array.dtype.kind not in "iu" or array.ndim not in (1, 2):
        raise InvalidInput("Answers must be integers, one stream or rows of streams.")
    scales = sparse_scales(sensitivity, epsilon, cutoff=cutoff, monotone=monotone)
    rows = _clipped(array).reshape(-1, array.shape[-1])
    bar = _checked(threshold) + discrete_laplace(scales.threshold, (len(rows), 1), rng=rng)
    above: Bits = rows + discrete_laplace(scales.question, rows.shape, rng=rng) >= bar
    earlier: Integers = np.cumsum(above, axis=1, dtype=np.int64) - above
    answered: Bits = earlier < cutoff
    asked = answered.sum(axis=1, dtype=np.int64)
    return SparseAnswers((above & answered).reshape(array.shape), asked.reshape(array.shape[:-1]))


def _clipped(answers: npt.NDArray[np.integer]) -> Integers:
    """Return the answers where sums cannot overflow; clipping moves no answer further."""
    if answers.dtype.kind == "u":
        return np.minimum(answers.astype(np.uint64), np.uint64(_FARTHEST)).astype(np.int64)
    return np.clip(answers.astype(np.int64), -_FARTHEST, _FARTHEST)


def _checked(threshold: int) -> int:
    if abs(threshold) > _FARTHEST:
        raise InvalidInput("The threshold is out of any sensible range.")
    return threshold


class SparseVector:
    """The same, one question at a time: later questions may depend on earlier answers.

    Guarantee: epsilon-DP for the whole life of the object, as `above_threshold`.
    """

    def __init__(
        self,
        threshold: int,
        sensitivity: Number,
        epsilon: Number | Epsilon,
        *,
        cutoff: int = 1,
        monotone: bool = False,
        rng: Rng = SYSTEM,
    ) -> None:
        self._scales = sparse_scales(sensitivity, epsilon, cutoff=cutoff, monotone=monotone)
        self._rng = rng
        self._bar = _checked(threshold) + int(
            discrete_laplace(self._scales.threshold, 1, rng=rng)[0]
        )
        self._left = cutoff

    @property
    def left(self) -> int:
        """Return how many more times "above" may be said."""
        return self._left

    def ask(self, answer: int) -> bool:
        """Return whether the noisy answer reaches the noisy threshold."""
        if self._left == 0:
            raise InvalidInput(
                "This sparse vector has said 'above' as often as it may.",
                hint="Start another one and pay for it.",
            )
        noise = int(discrete_laplace(self._scales.question, 1, rng=self._rng)[0])
        above = answer + noise >= self._bar
        self._left -= above
        return above

    def __repr__(self) -> str:
        return f"SparseVector(left={self._left})"
