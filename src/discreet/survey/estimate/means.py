"""The mean behind noisy reports of numbers: unbiased, with an interval for the respondents' own mean."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from discreet.survey.estimate.shares import Estimated
from discreet.survey.randomizers.base import MeanRandomizer, Tally
from discreet.survey.randomizers.lattice import NumberRange


def estimate_mean(
    randomizer: MeanRandomizer,
    tally: Tally,
    span: NumberRange,
    *,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[float]:
    """Return the mean of the respondents' numbers behind a tally of at least one report.

    Every report stands for a number whose expectation is the value. The variance is that of these
    numbers, which includes how much respondents differ (so it is never too small for their own mean),
    and at least the least that any value could have. Up to `repeats` reports may be copies of one.
    """
    values, reports = randomizer.unbiased(), int(tally.sum())
    mean = float(tally @ values) / reports
    spread = float(tally @ (values - mean) ** 2) / max(1, reports - 1)
    error = math.sqrt(max(spread, float(randomizer.variances().min())) * repeats / reports)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    width = span.upper - span.lower
    low, value, high = (span.lower + width * at for at in (mean - reach, mean, mean + reach))
    return Estimated(value, low, high)


def worst_variance(randomizer: MeanRandomizer) -> float:
    """Return the greatest variance of one report's number, in squares of the range's width."""
    # Numbers between two positions are rounded to either: at most a quarter of a step squared more.
    step = 1 / (len(randomizer.variances()) - 1)
    return float(np.max(randomizer.variances())) + step**2 / 4
