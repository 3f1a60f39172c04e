"""A trained classifier: scores that are sums of small tables, one table for each term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput
from discreet.learn.measure.rows import Grouping, ScoreTerm, best_class, steps_of
from discreet.synth.columns import Coded, Encoding
from discreet.synth.shape import Codes

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
