"""Estimates and error bounds for choices and randomized answers: statistics, no dice, no guarantee.

Everything here is computed from public settings and from reports that are noisy already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.bars.binomial import clopper_pearson


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """An unbiased estimate of a share and an interval; all three may leave [0, 1].

    They are not clipped: averages and differences of clipped estimates are biased.
    """

    value: float
    low: float
    high: float

    def clipped(self) -> ShareEstimate:
        """Return the same within [0, 1], for showing and only after all arithmetic."""
        return ShareEstimate(*(min(max(x, 0.0), 1.0) for x in (self.value, self.low, self.high)))


def truth_of(epsilon: Number | Epsilon) -> float:
    """Return q = tanh(epsilon / 2): telling the truth that often costs epsilon.

    >>> round(truth_of(math.log(3)), 12)
    0.5
    """
    return math.tanh(float(Epsilon.of(epsilon)) / 2)


def estimate_response(
    yes: int, reports: int, epsilon: Number | Epsilon, *, confidence: float = 0.95
) -> ShareEstimate:
    """Return the true share of yes behind `randomized_response`.

    >>> estimate_response(45, 90, math.log(3)).value          # 2A - 1/2
    0.5
    """
    return _invert(yes, reports, truth_of(epsilon), confidence)


def estimate_coin_response(
    yes: int, reports: int, truth: Number, *, confidence: float = 0.95
) -> ShareEstimate:
    """Return the true share of yes behind `coin_response`: (A - (1 - q)/2) / q.

    The interval holds the share in the population that the respondents were drawn from with at
    least this confidence (exact binomial limits, mapped by the same line). For the respondents
    themselves, whose share is fixed, it is wider than needed.

    >>> estimate_coin_response(40, 100, "1/2").value          # 2 * 0.4 - 1/2
    0.30000000000000004
    """
    share = float(to_fraction(truth, name="truth"))
    if not 0 < share <= 1:
        raise InvalidInput("Without any true answers there is nothing to estimate.")
    return _invert(yes, reports, share, confidence)


def estimate_kary(
    codes: npt.ArrayLike, k: int, epsilon: Number | Epsilon, *, confidence: float = 0.95
) -> tuple[ShareEstimate, ...]:
    """Return the true share of each code behind `randomized_response_kary`.

    Each interval has this confidence by itself; for all k at once ask for 1 - (1 - confidence)/k.
    """
    reported = np.bincount(np.asarray(codes, dtype=np.int64), minlength=k)
    if len(reported) > k:
        raise InvalidInput("A code lies outside 0 .. k-1.")
    # Lies are uniform over k - 1 codes: telling the truth with probability q, else any of k.
    decay = math.exp(-float(Epsilon.of(epsilon)))
    truth = (1 - decay) / (1 + (k - 1) * decay)
    total = int(reported.sum())
    return tuple(_invert(int(n), total, truth, confidence, codes=k) for n in reported)


def selection_loss(
    count: int, sensitivity: Number, epsilon: Number | Epsilon, beta: Number
) -> float:
    """Return the loss that a choice among `count` exceeds with probability at most `beta`.

    (2 * sensitivity / epsilon) * ln(count / beta), for `exponential`, `permute_and_flip` and
    `report_noisy_max`; half of it where utilities are monotone.

    >>> round(selection_loss(10_000, 1, 1, "0.05"), 2)
    24.41
    """
    failing = float(to_fraction(beta, name="beta"))
    if count < 1 or not 0 < failing < 1:
        raise InvalidInput("count must be at least 1 and beta between 0 and 1.")
    width = 2 * to_fraction(sensitivity, name="sensitivity") / Epsilon.of(epsilon).value
    return float(width) * math.log(count / failing)


def _invert(
    hits: int, reports: int, truth: float, confidence: float, *, codes: int = 2
) -> ShareEstimate:
    if reports < 1 or not 0 <= hits <= reports:
        raise InvalidInput("An estimate needs at least one report.")
    low, high = clopper_pearson(hits, reports, confidence)
    chance = (1 - truth) / codes
    return ShareEstimate(*((share - chance) / truth for share in (hits / reports, low, high)))
