"""Logistic regression: noisy residuals of one feature after another, round after round, averaged.

Each feature is one column of declared values or bins. Round by round, and feature by feature, the door
is asked how much of the target is left unexplained in each group; the weights follow, shrunk by what is
known about the noise. Later rounds get more of the budget, and the last half is averaged, so that the
noise of all of them is averaged too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.learn.binning import Feature
from discreet.learn.door import LearningDoor, Reals
from discreet.learn.model import Fitted, Term
from discreet.learn.prior import class_shares, curvature, scored, shrinkage, strength
from discreet.learn.rows import FINE, Grouping
from discreet.synth.progress import Progress

ROUNDS = 20
PURE_ROUNDS = 6
"""Rounds with Laplace noise: there its size grows with their number, not with the root of it."""

STEP = 0.5
"""How far the weights follow each time."""

GROWTH = Fraction(8, 10)
"""The first round gets 1 - GROWTH of an average share, the last one 1 + GROWTH."""

GRAIN = 10**6
"""Shares are whole millionths, so that they add up exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A feature on its way: its grouping, share of the budget, and how weights are shrunk."""

    feature: Feature
    grouping: Grouping
    share: Fraction
    curve: Reals
    believed: list[Reals]


def fit(
    door: LearningDoor,
    features: Sequence[Feature],
    *,
    variance: float,
    share: Fraction,
    progress: Progress,
) -> Fitted:
    """Return the intercept and a weight for each group of each feature.

    `variance` is that of the noise in the features' counts. Spends exactly `share`.
    """
    shares = class_shares(list(features))
    intercept = scored(np.log(np.maximum(shares, 1e-9)))
    if len(shares) == 2:
        intercept = intercept - np.log(max(shares[0], 1e-9))
    door.add(Grouping((), ()), _steps(intercept))
    rounds = ROUNDS if door.purse.concentrated else PURE_ROUNDS
    parts = _parts(door, features, (shares, variance), share / rounds, rounds)
    weights = [np.zeros_like(part.curve) for part in parts]
    mean = [np.zeros_like(part.curve) for part in parts]
    for number in range(rounds):
        progress(number, rounds, "fitting")
        factor = _factor(number, rounds)
        for i, part in enumerate(parts):
            weights[i] = _followed(door, part, weights[i], part.share * factor)
        if 2 * number >= rounds:
            mean = [m + float(factor) * w for m, w in zip(mean, weights, strict=True)]
    total = sum(float(_factor(n, rounds)) for n in range(rounds) if 2 * n >= rounds)
    found = [m / total for m in mean]
    _return_scores(door, parts, weights, found)
    terms = [Term(part.grouping, w) for part, w in zip(parts, found, strict=True)]
    return Fitted(intercept, tuple(terms), shares)


def _return_scores(
    door: LearningDoor, parts: Sequence[Part], last: Sequence[Reals], mean: Sequence[Reals]
) -> None:
    """Leave the rows with the scores of the averaged weights: others may go on from there."""
    for part, old, new in zip(parts, last, mean, strict=True):
        door.add(part.grouping, _steps(new) - _steps(old))


def _followed(door: LearningDoor, part: Part, weights: Reals, share: Fraction) -> Reals:
    left = door.residual_sums(part.grouping, share=share).values
    wanted = weights + left / part.curve
    believed = np.stack(
        [matrix @ column for matrix, column in zip(part.believed, wanted.T, strict=True)], axis=1
    )
    # Rounded to the steps of the scores: what is kept is what the rows were told.
    after: Reals = np.rint((weights + STEP * (believed - weights)) * FINE) / FINE
    door.add(part.grouping, _steps(after) - _steps(weights))
    return after


def _parts(
    door: LearningDoor,
    features: Sequence[Feature],
    known_counts: tuple[Reals, float],
    share: Fraction,
    rounds: int,
) -> list[Part]:
    """Return the features worth visiting, the strongest first, with the share of each a round."""
    shares, variance = known_counts
    known = [(feature, strength(feature, shares, variance)) for feature in features]
    known.sort(key=lambda each: -each[1].excess)
    useful = [each for each in known if each[1].excess > 0] or known[:1]
    wanted = np.sqrt([max(each.excess, each.deviation, 1e-9) for _, each in useful])
    whole = np.maximum(1, np.floor(wanted / wanted.sum() * (GRAIN - len(useful)))).astype(np.int64)
    found = []
    for (feature, each), part in zip(useful, whole.tolist(), strict=True):
        mine = share * Fraction(part, GRAIN)
        curve = curvature(feature, shares, variance)
        noise = door.residual_variance(mine) / rounds
        grouping = Grouping((feature.column,), (feature.groups,))
        found.append(
            Part(feature, grouping, mine, curve, shrinkage(feature, each.spread, curve, noise))
        )
    return found


def _factor(number: int, rounds: int) -> Fraction:
    """Return the weight of a round; over all rounds they average to one."""
    if rounds == 1:
        return Fraction(1)
    return 1 - GROWTH + 2 * GROWTH * Fraction(number, rounds - 1)


def _steps(weights: Reals) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.rint(weights * FINE).astype(np.int64)
