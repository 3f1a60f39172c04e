"""Classifiers: the trained model, how one is fitted, and a paid choice among several.

A model's scores are sums of small tables, one for each term. Every feature is counted by class; then the
learner does what it does with the rest of the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import Counter, CountSensitivity, MarginalBudget
from discreet.measure.shape import Codes
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.features import BinnedFeature, feature_of, is_ordered
from discreet.work.learn.learners.registry import CHECKING, LEARNERS, tunable
from discreet.work.learn.private_rows import (
    Grouping,
    PaidRows,
    PrivateResiduals,
    ScoreTerm,
    best_class,
    steps_of,
)

LARGEST_TABLE = 1_000_000

LARGEST_WEIGHT = 1e12
"""In log-odds: a sum of a thousand such weights, in whole steps, still fits into a word."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """What a method has learned: intercept, terms, and the noisy share of each class."""

    intercept: Floats
    terms: tuple[ScoreTerm, ...]
    shares: Floats


class CodedModel:
    """A model over one encoding: its features and, last, its target."""

    __slots__ = ()
    encoding: Encoding

    @property
    def features(self) -> tuple[Coded, ...]:
        """Return the columns that are needed to predict."""
        return self.encoding.coded[:-1]

    @property
    def target(self) -> Coded:
        """Return the column that is predicted."""
        return self.encoding.coded[-1]

    @property
    def classes(self) -> tuple[Any, ...]:
        """Return the values that can be predicted, in the order of their codes."""
        return tuple(self.target.domain.value(i) for i in range(self.target.values))


@dataclass(frozen=True, slots=True, eq=False)
class Classifier(CodedModel):
    """Predicts the class of a row of codes: the class with the greatest score.

    `encoding` holds the features and, last, the target. With two classes there is one score, the
    log-odds of the second.
    """

    kind: str
    encoding: Encoding
    intercept: Floats
    terms: tuple[ScoreTerm, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def scores(self, codes: Codes) -> Floats:
        """Return the log-odds of each class, up to a constant, for rows of feature codes."""
        found = np.tile(self.intercept, (len(codes), 1))
        for term in self.terms:
            found += term.weights[term.grouping.places(codes)]
        if found.shape[1] == 1:
            found = np.concatenate([np.zeros_like(found), found], axis=1)
        return found

    def guesses(self, codes: Codes) -> Integers:
        """Return the predicted class of each row: a sum of whole numbers, the same everywhere."""
        found = np.tile(steps_of(self.intercept), (len(codes), 1))
        for term in self.terms:
            found += steps_of(term.weights)[term.grouping.places(codes)]
        return best_class(found)

    def chances(self, codes: Codes) -> Floats:
        """Return the predicted probability of each class."""
        scores = self.scores(codes)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def reaches(self) -> dict[str, float]:
        """Return how far each feature, or pair of them, can move the log-odds."""
        found: dict[str, float] = {}
        for term in self.terms:
            name = " and ".join(self.features[column].name for column in term.grouping.columns)
            size = float(np.ptp(term.weights, axis=0).max())
            found[name] = max(found.get(name, 0.0), size)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the terms as plain numbers; the encoding is written beside them."""
        return {
            "kind": self.kind,
            "intercept": self.intercept.tolist(),
            "terms": [
                {
                    "columns": list(term.grouping.columns),
                    "groups": [group.tolist() for group in term.grouping.groups],
                    "weights": np.round(term.weights, 6).tolist(),
                }
                for term in self.terms
            ],
        }


def classifier_from(data: Mapping[str, Any], encoding: Encoding, facts: Any) -> Classifier:
    """Return the classifier that `to_json` wrote; every number in it is checked."""
    if encoding.coded[-1].values < 2:
        raise InvalidInput("its target has fewer than two classes")
    outputs = 1 if encoding.coded[-1].values == 2 else encoding.coded[-1].values
    intercept = _finite(data["intercept"], (outputs,))
    terms = tuple(_term(item, encoding, outputs) for item in data["terms"])
    return Classifier(str(data["kind"]), encoding, intercept, terms, dict(facts))


def _term(item: Mapping[str, Any], encoding: Encoding, outputs: int) -> ScoreTerm:
    columns = tuple(int(column) for column in item["columns"])
    if any(not 0 <= column < len(encoding.coded) - 1 for column in columns):
        raise InvalidInput("a term names no feature")
    groups = tuple(np.array(group, dtype=np.int64) for group in item["groups"])
    for column, group in zip(columns, groups, strict=True):
        known = group.shape == (encoding.coded[column].size,) and group.min() >= 0
        if not known or group.max() >= len(group):
            raise InvalidInput("the groups of a term do not fit its feature")
    grouping = Grouping(columns, groups)
    if grouping.cells > LARGEST_TABLE:
        raise InvalidInput("a term is too large")
    return ScoreTerm(grouping, _finite(item["weights"], (grouping.cells, outputs)))


def _finite(written: Sequence[Any], shape: tuple[int, ...]) -> Floats:
    found = np.array(written, dtype=np.float64)
    if found.shape != shape or not (np.abs(found) <= LARGEST_WEIGHT).all():
        raise InvalidInput("its weights have the wrong size")
    return found


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


FOR_CHOICE = Fraction(1, 20)
"""The part that pays for the choice: scores are numbers of rows and move by one, so little is enough."""

MOST = 6


@dataclass(frozen=True, slots=True)
class TuningContext:
    """What tuning works with: rows, what was paid for them, whose they are, and dice."""

    rows: PaidRows
    budget: MarginalBudget
    unit: CountSensitivity
    rng: Rng


def check_candidates(names: Sequence[str]) -> None:
    """Refuse a choice that is none; asked before anything is paid, too."""
    unknown = [name for name in names if name not in tunable()]
    if unknown or not 2 <= len(names) <= MOST or len(set(names)) != len(names):
        raise InvalidInput(
            f"A paid choice needs 2 to {MOST} different models.",
            hint=f"Models: {', '.join(tunable())}.",
        )


def tuned(
    context: TuningContext, names: Sequence[str], encoding: Encoding, progress: Progress
) -> tuple[str, FittedModel]:
    """Return the model that was chosen; uses all of the budget but the share for checking.

    Guarantee: each candidate has private residuals of its own with an equal part of the budget, and the choice
        some with `FOR_CHOICE` of it; the parts add up to 1 - CHECKING. A row is right or wrong, so a
        score moves by at most one for a row. (docs/notes/0044)
    """
    check_candidates(names)
    each = (1 - CHECKING - FOR_CHOICE) / len(names)
    fitted = []
    for name in names:
        context.rows.clear()
        # A method leaves CHECKING of its residuals unused; nothing else would use it here.
        residuals = PrivateResiduals(
            context.rows, context.budget.part(each), context.unit, context.rng
        )
        fitted.append(fit_classifier(name, residuals, encoding, progress))
    residuals = PrivateResiduals(
        context.rows, context.budget.part(FOR_CHOICE), context.unit, context.rng
    )

    def right(_: Counter) -> Integers:
        found = []
        for each in fitted:
            context.rows.show(each.intercept, each.terms)
            found.append(int(context.rows.right().sum()))
        return np.array(found, dtype=np.int64)

    picked = residuals.choose(right, sensitivity=1, share=Fraction(1))
    context.rows.show(fitted[picked].intercept, fitted[picked].terms)
    return names[picked], fitted[picked]
