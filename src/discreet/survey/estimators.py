"""Unbiased estimators of shares and means from noisy reports, their intervals, and how many respondents they need.

Shares may be made consistent by norm-sub; intervals are for those of the respondents themselves. Before a survey
starts: how many respondents a wanted error needs, and what liars could do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.base.numbers import least_whole
from discreet.errors import InvalidInput
from discreet.survey.randomizers.base import (
    AnyRandomizer,
    MeanRandomizer,
    NumberRange,
    ShareRandomizer,
    Shares,
    Tally,
)
from discreet.survey.specification import QuestionKind, SurveyQuestion

_HALVINGS = 60
Number = TypeVar("Number", float, Shares)


@dataclass(frozen=True, slots=True)
class Estimated(Generic[Number]):
    """An unbiased mean, or one share a value, and its interval; they may leave the bounds, or 0 .. 1."""

    value: Number
    low: Number
    high: Number


def shares_from(
    randomizer: ShareRandomizer,
    supporters: Shares,
    *,
    reports: int,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[Shares]:
    """Return shares from how many of the reports support each value.

    (supporters / n - other) / (own - other). Each interval by itself holds the respondents' own share
    with about this confidence: the shares whose supporters would lie no further off than normal limits
    with a continuity correction. Where public hashes are fixed, their collisions are allowed for. Up to
    `repeats` reports may be copies of one: the weights k / n of the devices, k <= repeats, have squares
    that add up to at most repeats / n.
    """
    own, other = float(randomizer.own), float(randomizer.other)
    value = (supporters / reports - other) / (own - other)
    apart = reports / repeats
    correction = half_report(randomizer) / apart
    width = NormalDist().inv_cdf((1 + confidence) / 2)

    def reach(share: Shares) -> Shares:
        return correction + width * np.sqrt(variance(randomizer, share, reports=apart))

    return Estimated(value, _edge(value, reach, -1.0), _edge(value, reach, 1.0))


def half_report(randomizer: ShareRandomizer) -> float:
    """Return what half a report moves a share by, times their number: the continuity correction."""
    return 1 / (2 * (float(randomizer.own) - float(randomizer.other)))


def variance(randomizer: ShareRandomizer, share: Any, *, reports: float) -> Shares:
    """Return the variance of an estimated share, given how many of the respondents have the value."""
    own, other = float(randomizer.own), float(randomizer.other)
    held = np.clip(share, 0.0, 1.0)
    chance = held * own * (1 - own) + (1 - held) * other * (1 - other)
    return np.asarray(chance / (reports * (own - other) ** 2) + randomizer.hash_variance)


def _edge(value: Shares, reach: Any, side: float) -> Shares:
    """Return the furthest share on one side from which `value` is still within reach."""
    near = value.copy()
    far = value + side * (1 + np.maximum(reach(np.zeros_like(value)), reach(np.ones_like(value))))
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        inside = np.abs(value - middle) <= reach(middle)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return near


def norm_sub(shares: Shares) -> Shares:
    """Return the nearest shares (least squares) that are at least 0 and sum to 1.

    One number is subtracted from all, and what falls below 0 is set to 0: the projection on the
    simplex. Large shares keep their size; cutting at 0 and dividing by the sum would shrink them.

    >>> norm_sub(np.array([0.9, 0.3, -0.1])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(shares - excess[last], 0.0))


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


_WIDTH = NormalDist().inv_cdf(0.975)
_LEAST_ERROR = 1e-9
TOO_WIDE = 0.25
"""An interval that reaches further than this share of everything to each side says little."""


def parts_of(randomizer: AnyRandomizer) -> int:
    """Return into how many parts the reports are divided: only one of them counts whole words."""
    return int(getattr(randomizer, "levels", 1))


def unit_variance(randomizer: AnyRandomizer) -> float:
    """Return n times the greatest variance of an estimate (as a share, or of the range's width).

    A mean's interval also holds how much respondents differ from each other: at most as much as two halves at the ends.
    """
    if isinstance(randomizer, MeanRandomizer):
        values = randomizer.unbiased()
        most = float(values.max() - values.min()) ** 2 / 4
        return min(worst_variance(randomizer) + 1 / 4, most)
    ends = variance(randomizer, np.array([0.0, 1.0]), reports=1) - randomizer.hash_variance
    return float(ends.max())


def _fixed_variance(randomizer: AnyRandomizer) -> float:
    """Return what fixed public hashes add to that, however many respond."""
    return 0.0 if isinstance(randomizer, MeanRandomizer) else randomizer.hash_variance


def _correction(randomizer: AnyRandomizer) -> float:
    """Return n times the continuity correction of an interval."""
    return 0.0 if isinstance(randomizer, MeanRandomizer) else half_report(randomizer)


def expected_error(randomizer: AnyRandomizer, respondents: int) -> float:
    """Return how far a 95% interval reaches to each side at the worst, as a share of everything.

    A mean's interval follows from how much the reports differ, so it may reach a little further by chance.
    """
    told = max(1, respondents // parts_of(randomizer))
    normal = _WIDTH * math.sqrt(unit_variance(randomizer) / told + _fixed_variance(randomizer))
    return _correction(randomizer) / told + normal


def respondents_needed(randomizer: AnyRandomizer, error: float) -> int:
    """Return how many respondents make 95% intervals reach at most `error` to each side.

    `error` is a share of everything: 0.05 means five hundredths, or 5% of a number's range.
    """
    sensible = _LEAST_ERROR <= error <= 1 / _LEAST_ERROR  # neither underflows nor overflows below
    room = (error / _WIDTH) ** 2 - _fixed_variance(randomizer) if sensible else 0.0
    if room <= 0:
        raise InvalidInput(
            "No number of respondents gives this error.",
            hint="Ask for an error above 0; for an open question give its sketch more rows.",
        )
    parts = parts_of(randomizer)

    def enough(told: int) -> bool:
        return expected_error(randomizer, told * parts) <= error

    least = most = math.ceil(unit_variance(randomizer) / room) or 1
    while not enough(most):
        most *= 2
    return least_whole(least, most, enough) * parts


def poisoning_gain(randomizer: AnyRandomizer) -> float:
    """Return how many honest respondents one liar outweighs at most.

    A liar may send any report: m of them among n move a share (or a mean, in parts of its range) by at
    most m / n times this.
    """
    if isinstance(randomizer, MeanRandomizer):
        values = randomizer.unbiased()
        return float(max(values.max(), 1 - values.min()))
    # Up from 0 by a report that supports the value, or down from 1 by one that does not.
    own, other = randomizer.own, randomizer.other
    gain = float(max(1 - other, own) / (own - other))
    return gain * parts_of(randomizer)  # liars all choose the part that counts


def once_epsilon(randomizer: AnyRandomizer) -> float:
    """Return what one single report tells; less than all of them where each is blurred anew.

    >>> from fractions import Fraction
    >>> from discreet.survey.randomizers.rappor import Rappor
    >>> round(once_epsilon(Rappor.of(4, Fraction(2))), 3)
    0.941
    """
    ratio = getattr(randomizer, "once_ratio", randomizer.worst_ratio)
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def in_units(question: SurveyQuestion, error: float) -> float:
    """Return an error in the question's own units."""
    return (
        error * (question.upper - question.lower) if question.kind is QuestionKind.NUMBER else error
    )
