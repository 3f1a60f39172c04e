"""Naive Bayes: log-ratios of noisy counts, each believed as far as it stands out from the noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.display import Progress
from discreet.work.learn.classifier import FittedModel
from discreet.work.learn.features import BinnedFeature, class_shares, curvature, scored, strength
from discreet.work.learn.private_rows import Grouping, PrivateResiduals, ScoreTerm, steps_of


def fit(
    residuals: PrivateResiduals,
    features: Sequence[BinnedFeature],
    *,
    variance: float,
    share: Fraction,  # noqa: ARG001  # nothing is left after the counting
    progress: Progress,  # noqa: ARG001  # it is done at once
) -> FittedModel:
    """Return the intercept and the log-ratio of each group, from the counts alone."""
    shares = class_shares(list(features))
    intercept = np.log(np.maximum(shares, 1e-9))
    found = scored(intercept) - (intercept[0] if len(shares) == 2 else 0.0)
    residuals.add(Grouping((), ()), steps_of(found))
    terms = []
    for feature in features:
        if strength(feature, shares, variance).excess <= 0:
            continue
        weights = log_ratios(feature, shares, variance)
        grouping = Grouping((feature.column,), (feature.groups,))
        residuals.add(grouping, steps_of(weights))
        terms.append(ScoreTerm(grouping, weights))
    return FittedModel(found, tuple(terms), shares)


def log_ratios(feature: BinnedFeature, shares: Floats, variance: float) -> Floats:
    """Return log P(group | class) minus log P(group), shrunk group by group."""
    # As many made-up rows as the noise could be mistaken for: nothing becomes impossible.
    doubt = np.sqrt(variance * feature.joined)[:, None] + 1
    sizes = feature.sizes[:, None]
    local = (np.maximum(feature.counts, 0) + doubt * shares) / (sizes + doubt)
    ratios = np.log(np.maximum(local, 1e-9) / shares)
    if len(shares) == 2:
        ratios = ratios[:, 1:] - ratios[:, :1]
    curve = curvature(feature, shares, variance)
    noise = variance * feature.joined[:, None]
    spread = strength(feature, shares, variance).spread
    return np.asarray(ratios * spread / (spread + (curve + noise) / curve**2))
