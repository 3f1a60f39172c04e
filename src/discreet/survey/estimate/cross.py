"""Cross tables: the shares of pairs of answers to two questions, from their independent reports."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.core.arrays import Integers
from discreet.errors import InvalidInput
from discreet.survey.estimate.planning import parts_of
from discreet.survey.estimate.request import EstimateRequest, values_of
from discreet.survey.estimate.shares import Estimated
from discreet.survey.randomizers.base import ListedRandomizer, MeanRandomizer, Reports, Shares
from discreet.survey.spec.plan import SurveyPlan

MOST_PAIRS = 10_000
_ROWS = 1 << 16  # different pairs of reports that are looked at in one go


def cross_table(
    first: tuple[ListedRandomizer, Reports, Sequence[Any]],
    second: tuple[ListedRandomizer, Reports, Sequence[Any]],
    *,
    counts: Integers | None = None,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[Shares]:
    """Return the share of each pair of values (first down, second across); `counts` says how often each pair of reports occurs.

    Given the answers, the two reports are independent, so the product of their unbiased indicators is
    an unbiased indicator of the pair. The variance is that of the products, at least that of one pair
    with share 0; up to `repeats` pairs may be copies of one.
    """
    (one, one_reports, one_values), (two, two_reports, two_values) = first, second
    if len(one_values) * len(two_values) > MOST_PAIRS:
        raise InvalidInput(f"A cross table has at most {MOST_PAIRS:,} cells.")
    weights = np.ones(len(one_reports)) if counts is None else counts.astype(np.float64)
    total = float(weights.sum())
    if total < 1:
        raise InvalidInput("Nobody has answered both questions yet.")
    sums = np.zeros((2, len(one_values), len(two_values)))
    for start in range(0, len(weights), _ROWS):
        part = slice(start, start + _ROWS)
        left = _indicators(one, one_reports[part], one_values)
        right = _indicators(two, two_reports[part], two_values)
        sums[0] += (left * weights[part, None]).T @ right
        sums[1] += (left**2 * weights[part, None]).T @ right**2
    value = sums[0] / total
    spread = np.maximum(sums[1] / total - value**2, _least(one) * _least(two))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(
        spread * repeats / total + one.hash_variance + two.hash_variance
    )
    return Estimated(value, value - reach, value + reach)


def _indicators(randomizer: ListedRandomizer, reports: Reports, values: Sequence[Any]) -> Shares:
    """Return numbers whose expectations are 1 for the own value and 0 for any other."""
    own, other = float(randomizer.own), float(randomizer.other)
    return np.asarray((randomizer.supports(reports, values) - other) / (own - other))


def _least(randomizer: ListedRandomizer) -> float:
    own, other = float(randomizer.own), float(randomizer.other)
    return min(own * (1 - own), other * (1 - other)) / (own - other) ** 2


def cross_result(
    plan: SurveyPlan,
    wanted: EstimateRequest,
    reports: tuple[Reports, Reports],
    counts: Integers | None = None,
) -> dict[str, Any]:
    """Return the cross table that is wanted as `--json` prints it: first question, second, share."""
    assert wanted.cross is not None
    if wanted.cross[0] == wanted.cross[1]:
        raise InvalidInput("A cross table needs two different questions.")
    sides, labels = [], []
    for name, told in zip(wanted.cross, reports, strict=True):
        index = plan.question_index(name)
        randomizer: Any = plan.choices[index].randomizer
        if isinstance(randomizer, MeanRandomizer) or parts_of(randomizer) > 1:
            raise InvalidInput("A cross table needs two questions with answers from a list.")
        shown, values = values_of(plan.survey.questions[index], wanted)
        if not values:
            raise InvalidInput(f"A cross table needs the words that '{name}' is read for.")
        sides.append((randomizer, told, values))
        labels.append(shown)
    found = cross_table(
        sides[0],
        sides[1],
        counts=counts,
        confidence=wanted.confidence,
        repeats=wanted.repeats,
    )
    return {
        "questions": list(wanted.cross),
        "estimates": {
            row: {
                column: {
                    "value": float(found.value[i, j]),
                    "low": float(found.low[i, j]),
                    "high": float(found.high[i, j]),
                }
                for j, column in enumerate(labels[1])
            }
            for i, row in enumerate(labels[0])
        },
    }
