"""How much a release adds: success on its own people minus success on as many strangers.

Without strangers a risk cannot be told from knowledge of the population; with fewer of them than
people it is biased (a question that singles out one of 10,000 rarely singles out one of 1,000). So
both groups always have the same size here. Note 0028 has the argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.attack.outcome import Score
from discreet.errors import InvalidInput
from discreet.noise.bars.binomial import clopper_pearson, wilson

CONFIDENCE = 0.95
_QUANTILE = 1.959963984540054
"""Of the normal law, two-sided at CONFIDENCE."""


@dataclass(frozen=True, slots=True)
class AddedRisk:
    """What a release adds to guessing: `value` with its 95% interval; 0 means nothing.

    `right` of `trials` guesses hit people of the release, `right_on_strangers` of as many trials hit
    people of the same population who are not in it.
    """

    right: int
    right_on_strangers: int
    trials: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the difference of the two shares."""
        return (self.right - self.right_on_strangers) / self.trials

    @property
    def found(self) -> bool:
        """Return whether the interval lies above 0: the release gives its own people away."""
        return self.low > 0

    def score(self) -> Score:
        """Return the share of right guesses, beside that on strangers."""
        return Score.of_guesses(
            self.right, self.trials, baseline=self.right_on_strangers / self.trials
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "risk": self.value,
            "low": self.low,
            "high": self.high,
            "found": self.found,
            "right": self.right,
            "right_on_strangers": self.right_on_strangers,
            "trials": self.trials,
        }


def difference(right: int, right_on_strangers: int, trials: int) -> AddedRisk:
    """Return the risk of two independent shares of equally many trials (Newcombe's score interval).

    >>> difference(60, 60, 100).found, difference(90, 60, 100).found
    (False, True)
    """
    _check(right, right_on_strangers, trials)
    first, second = right / trials, right_on_strangers / trials
    low1, high1 = wilson(right, trials, _QUANTILE)
    low2, high2 = wilson(right_on_strangers, trials, _QUANTILE)
    gap = first - second
    return AddedRisk(
        right,
        right_on_strangers,
        trials,
        gap - math.hypot(first - low1, high2 - second),
        gap + math.hypot(high1 - first, second - low2),
    )


def split_of_hits(right: int, right_on_strangers: int, trials: int) -> AddedRisk:
    """Return the risk from how the people hit divide into those of the release and strangers.

    If the release says nothing about its own people, each one hit is as likely a stranger: the
    split is binomial with 1/2. Its exact (Clopper-Pearson) limits give those of the difference.

    >>> split_of_hits(12, 9, 100).found, split_of_hits(90, 2, 100).found
    (False, True)
    """
    _check(right, right_on_strangers, trials)
    hits = right + right_on_strangers
    low, high = clopper_pearson(right, hits, CONFIDENCE) if hits else (0.5, 0.5)
    return AddedRisk(
        right,
        right_on_strangers,
        trials,
        (2 * low - 1) * hits / trials,
        (2 * high - 1) * hits / trials,
    )


def _check(right: int, right_on_strangers: int, trials: int) -> None:
    if trials < 1:
        raise InvalidInput(
            "Nothing could be guessed from this release.",
            hint="It needs rows, and columns in common with the original.",
        )
    if not (0 <= right <= trials and 0 <= right_on_strangers <= trials):
        raise InvalidInput("There cannot be more right guesses than guesses.")
