"""A private classifier with scikit-learn's habits: `--model` of `discreet learn classify`, as an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.numbers import Number
from discreet.errors import InvalidInput
from discreet.learn.estimators.input_rows import (
    checked_features,
    class_setting,
    column_of,
    labels_of,
    table_of,
)
from discreet.learn.estimators.parameters import PrivateEstimator, not_fitted
from discreet.learn.evaluation.paid_test import TestRequest, paid_test
from discreet.learn.evaluation.read_file import codes_of_table
from discreet.learn.request import LearnRequest
from discreet.learn.run import train

TARGET = "target"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(PrivateEstimator):
    """Predicts classes; every `fit` is charged before a row is read.

    `fit("people", "income")` trains on a declared table of `curator`; `fit(X, y)` on rows in memory,
    whose `domains` and `classes` were declared (or are taken from them on `accept`), out of `budget`.

    Guarantee: that of `discreet.learn.run.train` for the table, or for the rows behind `budget`.
        `score` is exact on rows declared public by `test_public`, else charged `test_epsilon`.
    """

    _kind = "classifier"

    delta: Number | None = None
    model: str = "auto"
    classes: Sequence[Any] | None = None
    test_public: bool = False
    test_epsilon: Number | None = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  # scikit-learn's names
        """Return the estimator, fitted; charged first."""
        more, target = None, str(y)
        if not isinstance(X, str):
            labels, words = labels_of(y, X, self.classes, accept=self.accept)
            more, target = (TARGET, words, class_setting(labels)), TARGET
        with table_of(self, X, more) as (desk, table):
            request = LearnRequest.of(
                table, target=target, epsilon=self.epsilon, delta=self.delta, model=self.model
            )
            trained = train(request, desk)
        self.model_ = trained.model
        self.cost_ = trained.cost.to_json()
        self.classes_ = np.array(trained.model.classes) if isinstance(X, str) else labels
        self._learned_from(X, [each.name for each in trained.model.features])
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:  # noqa: N803
        """Return the predicted class of each row; costs nothing."""
        guesses = self._fitted.guesses(self._codes(X))
        return np.asarray(self.classes_[guesses])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the predicted probability of each class, in the order of `classes_`."""
        return np.asarray(self._fitted.chances(self._codes(X)))

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of rows predicted rightly: exact if public, else charged."""
        if self.test_public:
            return float((self.predict(X) == column_of(y, X)).mean())
        if not isinstance(X, str):
            self._codes(X)  # what does not fit is refused for that, before anything about a price
        if self.test_epsilon is None:
            raise InvalidInput(
                "How often a model is right on these rows is itself a number about them.",
                hint="Say test_public=True if they are public, or test_epsilon= to pay for it.",
            )
        return self._paid_score(X, y, self.test_epsilon)

    def _paid_score(self, rows: Any, target: Any, epsilon: Number) -> float:
        more = None
        if not isinstance(rows, str):
            _, words = labels_of(target, rows, self.classes_.tolist(), accept=False)
            more = (TARGET, words, class_setting(self.classes_))
        with table_of(self, rows, more) as (desk, table):
            tested = paid_test(
                TestRequest.of(table, epsilon=epsilon),
                self._fitted,
                desk,
            )
        self.test_ = dict(tested.facts["accuracy"])
        return float(self.test_["value"])

    @property
    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        return self.model_

    def _codes(self, rows: Any) -> Any:
        names = [each.name for each in self._fitted.features]
        table = checked_features(names, rows, type(self).__name__)
        return codes_of_table(table, self._fitted.features)
