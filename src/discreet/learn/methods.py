"""The classifiers by name, and which one `auto` means: decided by public facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.learn.binning import Feature, feature_of
from discreet.learn.columns import is_ordered
from discreet.learn.door import LearningDoor
from discreet.learn.linear import bayes, logistic
from discreet.learn.model import Fitted
from discreet.synth.columns import Encoding
from discreet.synth.progress import Progress

COUNTING = Fraction(1, 5)
"""The share that counts every feature by class: bins, spreads and naive Bayes come from it."""

CHECKING = Fraction(1, 50)
"""The share that counts how many of the training rows are predicted rightly."""

Fit: TypeAlias = Callable[[LearningDoor, Sequence[Feature], float, Fraction, Progress], Fitted]


def _logistic(
    door: LearningDoor,
    features: Sequence[Feature],
    variance: float,
    share: Fraction,
    progress: Progress,
) -> Fitted:
    return logistic.fit(door, features, variance=variance, share=share, progress=progress)


CLASSIFIERS: dict[str, tuple[Fit | None, Fraction]] = {
    "logistic": (_logistic, COUNTING),
    "bayes": (None, 1 - CHECKING),
}
"""For each model what fits it after the counting, and the share that the counting gets."""


def chosen(name: str) -> str:
    """Return the model that a name means."""
    return "logistic" if name == "auto" else name


def fit_classifier(name: str, door: LearningDoor, encoding: Encoding, progress: Progress) -> Fitted:
    """Return intercept and terms of a classifier; spends all but the share for checking."""
    fit, counting = CLASSIFIERS[name]
    progress(0, 1, "counting features by class")
    features, variance = count_features(door, encoding, counting)
    if fit is None:
        return bayes.fit(door, features, variance)
    return fit(door, features, variance, 1 - CHECKING - counting, progress)


def count_features(
    door: LearningDoor, encoding: Encoding, share: Fraction
) -> tuple[list[Feature], float]:
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
