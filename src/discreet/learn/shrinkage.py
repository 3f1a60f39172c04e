"""Shrinkage of feature weights by noisy counts: how far estimates are believed.

A weight is read off a noisy sum: estimate = truth + error, where the error's variance is known (noise
and sampling). With a prior of variance `spread`, smooth along ordered groups, the best linear guess is
S (S + A)^-1 times the estimate. The spread of each feature is estimated from its noisy counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.learn.measure.binning import SEEN, BinnedFeature

LENGTH = 4.0
"""Groups over which the weights of an ordered feature forget each other."""

NARROWEST, WIDEST = 0.05, 1.0
"""Standard deviations of weights, in log-odds, that are believed at least and at most."""

TOGETHER = 0.6
"""A weight beside others is smaller than alone: features overlap."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSignal:
    """How much a feature alone says: excess of chi-square over noise, and its deviation."""

    excess: float
    deviation: float
    spread: float


def class_shares(features: list[BinnedFeature]) -> Floats:
    """Return the share of each class, from the counts of all features together."""
    totals = np.maximum(np.mean([f.counts.sum(axis=0) for f in features], axis=0), 1.0)
    return np.asarray(totals / totals.sum())


def scored(values: Floats) -> Floats:
    """Return the columns that have a score: with two classes the second one only."""
    return values[..., 1:] if values.shape[-1] == 2 else values


def strength(feature: BinnedFeature, shares: Floats, variance: float) -> FeatureSignal:
    """Return what the noisy counts of a feature say about the target beyond chance."""
    seen = feature.sizes > SEEN * np.sqrt(variance * feature.joined * len(shares))
    if not seen.any():
        return FeatureSignal(0.0, 1.0, NARROWEST**2)
    sizes = feature.sizes[seen, None]
    gaps = scored(feature.counts[seen] - sizes * shares)
    odds = scored(shares * (1 - shares))
    kept = (1 - shares) ** 2 + shares**2 * (len(shares) - 1)
    error = variance * feature.joined[seen, None] * scored(kept) + sizes * odds
    weight = sizes * odds
    excess = float(((gaps**2 - error) / weight).sum())
    deviation = float(np.sqrt((2 * (error / weight) ** 2).sum()))
    rows, outputs = float(sizes.sum()), gaps.shape[1]
    spread = float(((gaps**2 - error) / weight**2 * sizes).sum()) / rows / outputs
    return FeatureSignal(excess, deviation, float(np.clip(spread, NARROWEST**2, WIDEST**2)))


def curvature(feature: BinnedFeature, shares: Floats, variance: float) -> Floats:
    """Return about how fast the residuals of each group fall when its weight grows."""
    sizes = feature.sizes[:, None]
    doubt = 2 * float(np.sqrt(variance))
    local = np.clip((np.maximum(feature.counts, 0) + doubt * shares) / (sizes + doubt), 0, 1)
    return scored(sizes * np.maximum(shares * (1 - shares), local * (1 - local)))


def shrinkage(feature: BinnedFeature, spread: float, curve: Floats, noise: float) -> list[Floats]:
    """Return for each score the matrix that turns estimated weights into believed ones.

    `noise` is the variance of a sum of residuals when all rounds are taken together.
    """
    size = len(feature.sizes)
    prior = np.eye(size)
    place = np.arange(feature.ordered)
    near = np.exp(-np.abs(place[:, None] - place) / LENGTH)
    prior[: feature.ordered, : feature.ordered] = near
    prior *= spread * TOGETHER**2
    found = []
    for column in curve.T:
        error = np.diag((column + noise) / column**2)
        found.append(np.asarray(prior @ np.linalg.inv(prior + error)))
    return found
