"""Before a survey starts: how many respondents a wanted error needs, and what liars could do."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from discreet.core.numbers import least_whole
from discreet.errors import InvalidInput
from discreet.survey.estimate.shares import half_report, variance, worst_variance
from discreet.survey.randomizers.base import MeanRandomizer
from discreet.survey.randomizers.mechanism import AnyRandomizer
from discreet.survey.spec.survey import QuestionKind, SurveyQuestion

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
