"""How a classifier is fitted: every feature counted by class, then what its learner does with the rest."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.progress import Progress
from discreet.learn.learners import CHECKING, LEARNERS
from discreet.learn.measure.binning import BinnedFeature, feature_of
from discreet.learn.measure.columns import is_ordered
from discreet.learn.measure.residual_sums import PrivateResiduals
from discreet.learn.model import FittedModel
from discreet.synth.columns import Encoding


def fit_classifier(
    name: str, residuals: PrivateResiduals, encoding: Encoding, progress: Progress
) -> FittedModel:
    """Return intercept and terms of a classifier; spends all but the share for checking."""
    learner = LEARNERS[name]
    progress(0, 1, "counting features by class")
    features, variance = count_features(residuals, encoding, learner.counting)
    share = 1 - CHECKING - learner.counting
    found: FittedModel = learner.fit(
        residuals, features, variance=variance, share=share, progress=progress
    )
    return found


def count_features(
    residuals: PrivateResiduals, encoding: Encoding, share: Fraction
) -> tuple[list[BinnedFeature], float]:
    """Return every feature with its noisy counts by class, and the variance of that noise."""
    target = len(encoding.coded) - 1
    wanted = [(column, target) for column in range(target)]
    measured = residuals.measure(wanted, share=share)
    features = [
        feature_of(
            column,
            each.values.astype(float),
            each.variance,
            ordered=is_ordered(encoding.coded[column]),
            missing=encoding.coded[column].missing,
        )
        for column, each in enumerate(measured)
    ]
    return features, measured[0].variance
