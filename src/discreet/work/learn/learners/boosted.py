"""Boosted trees from noisy histograms: the single features first, then pairs of them.

Each tree is a small table over the coarse groups of two features, fitted to what all before it left
unexplained. A first look at every pair of strong features finds those that say something together; the
second look, with more of the budget, fits them. Which pairs are strong is read off noisy values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress
from discreet.work.learn.classifier import FittedModel
from discreet.work.learn.features import BinnedFeature, scored
from discreet.work.learn.learners import logistic
from discreet.work.learn.private_rows import (
    FINE,
    Grouping,
    NoisySums,
    PrivateResiduals,
    ScoreTerm,
    steps_of,
)

SINGLES = Fraction(7, 10)
"""The part that fits the single features."""

LOOKS = Fraction(1, 10)
"""The part that looks at every pair once; the rest fits the best of them."""

STRONG = 8
"""Features whose pairs are looked at."""

KEPT = 6
"""Pairs that are fitted after the look."""

COARSE = 5
"""Groups of a feature in a pair."""

NARROW = 0.15
"""Standard deviation, in log-odds, of what a cell of a pair adds: singles have said the most."""


@dataclass(frozen=True, slots=True, eq=False)
class FeaturePair:
    """Two features in coarse groups, and about how many rows each cell has."""

    grouping: Grouping
    sizes: Floats


def fit(
    residuals: PrivateResiduals,
    features: Sequence[BinnedFeature],
    *,
    variance: float,
    share: Fraction,
    progress: Progress,
) -> FittedModel:
    """Return intercept, the weights of single features and the tables of pairs. Spends `share`."""
    singles = logistic.fit(
        residuals, features, variance=variance, share=share * SINGLES, progress=progress
    )
    pairs = _pairs(features, singles)
    if not pairs:
        return singles
    progress(0, 2, "looking at pairs of features")
    each = share * LOOKS / len(pairs)
    odds = scored(singles.shares * (1 - singles.shares))
    seen: list[tuple[float, FeaturePair]] = []
    for pair in pairs:
        sums = residuals.residual_sums(pair.grouping, share=each)
        seen.append((_excess(sums, pair, odds), pair))
    best = [pair for score, pair in sorted(seen, key=lambda each: -each[0])[:KEPT] if score > 0]
    progress(1, 2, "fitting pairs of features")
    rest = share * (1 - SINGLES - LOOKS)
    terms = [_tree(residuals, pair, odds, rest / len(best)) for pair in best]
    return FittedModel(singles.intercept, (*singles.terms, *terms), singles.shares)


def _excess(sums: NoisySums, pair: FeaturePair, odds: Floats) -> float:
    """Return how far the sums of a pair exceed what noise and sampling explain."""
    weight = pair.sizes[:, None] * odds
    error = sums.variance + weight
    # In units of the gain in log-likelihood, where each sum is believed as far as it should be.
    return float(((sums.values**2 - error) / (error + weight)).sum())


def _tree(
    residuals: PrivateResiduals, pair: FeaturePair, odds: Floats, share: Fraction
) -> ScoreTerm:
    sums = residuals.residual_sums(pair.grouping, share=share)
    curve = pair.sizes[:, None] * odds
    believed = NARROW**2 / (NARROW**2 + (curve + sums.variance) / curve**2)
    weights: Floats = np.rint(sums.values / curve * believed * FINE) / FINE
    residuals.add(pair.grouping, steps_of(weights))
    return ScoreTerm(pair.grouping, weights)


def _pairs(features: Sequence[BinnedFeature], singles: FittedModel) -> list[FeaturePair]:
    """Return the pairs of the features that move the scores most."""
    known = {feature.column: feature for feature in features}
    reach = []
    for term in singles.terms:
        feature = known[term.grouping.columns[0]]
        size = feature.sizes[:, None]
        centred = term.weights - (size * term.weights).sum(axis=0) / size.sum()
        reach.append((float((size * centred**2).sum()), feature, term))
    strong = sorted(reach, key=lambda each: -each[0])[:STRONG]
    coarse = [(feature, _coarse(feature, term)) for _, feature, term in strong]
    coarse.sort(key=lambda each: each[0].column)
    return [_pair(first, second) for first, second in combinations(coarse, 2)]


def _pair(
    first: tuple[BinnedFeature, Integers], second: tuple[BinnedFeature, Integers]
) -> FeaturePair:
    """Return a pair; its cells are taken to be as large as if the features were independent."""
    parts = [
        (f.column, merge[f.groups], np.bincount(merge, weights=f.sizes))
        for f, merge in (first, second)
    ]
    (one, groups_one, rows_one), (two, groups_two, rows_two) = parts
    sizes = np.outer(rows_one, rows_two).reshape(-1) / max(rows_one.sum(), 1.0)
    grouping = Grouping((one, two), (groups_one, groups_two))
    return FeaturePair(grouping, np.maximum(sizes, 1.0))


def _coarse(feature: BinnedFeature, term: ScoreTerm) -> Integers:
    """Return a coarse group for each group of a feature: runs of its order, or of its weights."""
    size = len(feature.sizes)
    order = np.arange(size)
    if not feature.ordered:
        order = np.argsort(term.weights[:, 0], kind="stable")
    below = np.cumsum(feature.sizes[order]) - feature.sizes[order] / 2
    level = np.minimum((below / feature.sizes.sum() * COARSE).astype(np.int64), COARSE - 1)
    _, dense = np.unique(level, return_inverse=True)
    found = np.empty(size, dtype=np.int64)
    found[order] = dense
    return found
