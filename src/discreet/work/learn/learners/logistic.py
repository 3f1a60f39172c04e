"""Logistic regression: noisy residuals of one feature after another, round after round, averaged.

Each feature is one column of declared values or bins. Round by round, and feature by feature, the private residuals
is asked how much of the target is left unexplained in each group; the weights follow, shrunk by what is
known about the noise. Later rounds get more of the budget, and the last half is averaged, so that the
noise of all of them is averaged too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.display import Progress
from discreet.work.learn.classifier import FittedModel
from discreet.work.learn.features import (
    BinnedFeature,
    class_shares,
    curvature,
    scored,
    shrinkage,
    strength,
)
from discreet.work.learn.private_rows import FINE, Grouping, PrivateResiduals, ScoreTerm, steps_of

ROUNDS = 20
PURE_ROUNDS = 6
"""Rounds with Laplace noise: there its size grows with their number, not with the root of it."""

STEP = 0.5
"""How far the weights follow each time."""

GROWTH = Fraction(8, 10)
"""The first round gets 1 - GROWTH of an average share, the last one 1 + GROWTH."""

NO_FEATURE = Grouping((), ())
"""One cell that holds every row."""

TOGETHER = 3
"""Features that share a look at residuals where there are more than two classes."""

STAGES = 4
"""Different shares a round: few, because every law of noise has tables that must be made."""


@dataclass(frozen=True, slots=True, eq=False)
class ScorePart:
    """A feature on its way: its grouping, share of the budget, and how weights are shrunk."""

    grouping: Grouping
    share: Fraction
    curve: Floats
    believed: list[Floats]


def fit(
    residuals: PrivateResiduals,
    features: Sequence[BinnedFeature],
    *,
    variance: float,
    share: Fraction,
    progress: Progress,
) -> FittedModel:
    """Return the intercept and a weight for each group of each feature.

    `variance` is that of the noise in the features' counts. Spends exactly `share`.
    """
    shares = class_shares(list(features))
    intercept = scored(np.log(np.maximum(shares, 1e-9)))
    if len(shares) == 2:
        intercept = intercept - np.log(max(shares[0], 1e-9))
    residuals.add(NO_FEATURE, steps_of(intercept))
    rounds = ROUNDS if residuals.budget.concentrated else PURE_ROUNDS
    parts = _parts(residuals, features, (shares, variance), share / rounds, rounds)
    weights = [np.zeros_like(part.curve) for part in parts]
    level, mean_level = np.zeros_like(intercept), np.zeros_like(intercept)
    mean = [np.zeros_like(part.curve) for part in parts]
    for number in range(rounds):
        progress(number, rounds, "fitting")
        factor = _factor(number, rounds)
        for few in _chunks(len(parts), 1 if residuals.outputs == 1 else TOGETHER):
            # Residuals of many classes are slow: a few features share a look at the same ones.
            left = [
                residuals.residual_sums(parts[i].grouping, share=parts[i].share * factor)
                for i in few
            ]
            for i, sums in zip(few, left, strict=True):
                weights[i], more = _followed(residuals, parts[i], weights[i], sums.values)
                level = level + more
        if 2 * number >= rounds:
            mean_level = mean_level + float(factor) * level
            mean = [m + float(factor) * w for m, w in zip(mean, weights, strict=True)]
    total = sum(float(_factor(n, rounds)) for n in range(rounds) if 2 * n >= rounds)
    found = [m / total for m in mean]
    # The rows are left with the scores of the averaged weights: others may go on from there.
    for part, old, new in zip(parts, weights, found, strict=True):
        residuals.add(part.grouping, steps_of(new) - steps_of(old))
    residuals.add(NO_FEATURE, steps_of(mean_level / total) - steps_of(level))
    intercept = intercept + mean_level / total
    terms = [ScoreTerm(part.grouping, w) for part, w in zip(parts, found, strict=True)]
    return FittedModel(intercept, tuple(terms), shares)


def _followed(
    residuals: PrivateResiduals, part: ScorePart, weights: Floats, left: Floats
) -> tuple[Floats, Floats]:
    """Return the weights of a feature after one look, and how far all scores move together."""
    wanted = weights + left / part.curve
    believed = np.stack(
        [matrix @ column for matrix, column in zip(part.believed, wanted.T, strict=True)], axis=1
    )
    # Rounded to the steps of the scores: what is kept is what the rows were told.
    after: Floats = np.rint((weights + STEP * (believed - weights)) * FINE) / FINE
    residuals.add(part.grouping, steps_of(after) - steps_of(weights))
    level: Floats = np.rint(STEP / 2 * left.sum(axis=0) / part.curve.sum(axis=0) * FINE) / FINE
    residuals.add(NO_FEATURE, steps_of(level))
    return after, level


def _parts(
    residuals: PrivateResiduals,
    features: Sequence[BinnedFeature],
    known_counts: tuple[Floats, float],
    share: Fraction,
    rounds: int,
) -> list[ScorePart]:
    """Return the features worth visiting, the strongest first, with the share of each a round."""
    shares, variance = known_counts
    known = [(feature, strength(feature, shares, variance)) for feature in features]
    known.sort(key=lambda each: -each[1].excess)
    useful = [each for each in known if each[1].excess > 0] or known[:1]
    wanted = np.sqrt([max(each.excess, each.deviation, 1e-9) for _, each in useful])
    # Powers of two, for the same reason.
    whole = [1 << int(k) for k in np.rint(np.log2(wanted / wanted.min()))]
    found = []
    for (feature, each), part in zip(useful, whole, strict=True):
        mine = share * Fraction(part, sum(whole))
        curve = curvature(feature, shares, variance)
        noise = residuals.residual_variance(mine) / rounds
        grouping = Grouping((feature.column,), (feature.groups,))
        found.append(
            ScorePart(grouping, mine, curve, shrinkage(feature, each.spread, curve, noise))
        )
    return found


def _chunks(size: int, few: int) -> list[range]:
    return [range(start, min(start + few, size)) for start in range(0, size, few)]


def _factor(number: int, rounds: int) -> Fraction:
    """Return the weight of a round: four stages, growing; over all rounds they average to one."""
    stage = min(STAGES - 1, number * STAGES // rounds)
    raw = [1 - GROWTH + 2 * GROWTH * Fraction(k, STAGES - 1) for k in range(STAGES)]
    total = sum(raw[min(STAGES - 1, n * STAGES // rounds)] for n in range(rounds))
    return raw[stage] * rounds / total
