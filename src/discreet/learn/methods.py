"""The classifiers by name, and which one `auto` means: decided by public facts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from discreet.core.progress import Progress
from discreet.learn.linear import bayes, logistic
from discreet.learn.measure.binning import BinnedFeature, feature_of
from discreet.learn.measure.columns import is_ordered
from discreet.learn.measure.residual_sums import LearningDoor
from discreet.learn.model import FittedModel
from discreet.learn.trees import boosted
from discreet.synth.encoding.columns import Encoding
from discreet.synth.measure.private_marginals import MarginalBudget

COUNTING = Fraction(1, 5)
"""The share that counts every feature by class: bins, spreads and naive Bayes come from it."""

CHECKING = Fraction(1, 50)
"""The share that counts how many of the training rows are predicted rightly."""


LearnerFit: TypeAlias = Callable[..., FittedModel]
"""fit(door, features, *, variance, share, progress): a model after the counting, for exactly `share`."""

CLASSIFIERS: dict[str, tuple[LearnerFit | None, Fraction]] = {
    "logistic": (logistic.fit, COUNTING),
    "boosted": (boosted.fit, COUNTING),
    "bayes": (None, 1 - CHECKING),
}
"""For each model what fits it after the counting, and the share that the counting gets."""


def chosen(name: str, purse: MarginalBudget) -> str:
    """Return the model that a name means, by public facts alone.

    `auto` is what did best on other data sets (docs/learn.md): boosted, or naive Bayes where there
    is no delta, since with Laplace noise every further look at the rows costs too much.
    """
    if name != "auto":
        return name
    return "boosted" if purse.concentrated else "bayes"


def fit_classifier(
    name: str, door: LearningDoor, encoding: Encoding, progress: Progress
) -> FittedModel:
    """Return intercept and terms of a classifier; spends all but the share for checking."""
    fit, counting = CLASSIFIERS[name]
    progress(0, 1, "counting features by class")
    features, variance = count_features(door, encoding, counting)
    if fit is None:
        return bayes.fit(door, features, variance)
    share = 1 - CHECKING - counting
    return fit(door, features, variance=variance, share=share, progress=progress)


def count_features(
    door: LearningDoor, encoding: Encoding, share: Fraction
) -> tuple[list[BinnedFeature], float]:
    """Return every feature with its noisy counts by class, and the variance of that noise."""
    target = len(encoding.coded) - 1
    wanted = [(column, target) for column in range(target)]
    measured = door.measure(wanted, share=share)
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
