"""A private ridge regression with scikit-learn's habits: one paid question for all sums of products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats
from discreet.errors import InvalidInput
from discreet.learn.estimators.frames import declared
from discreet.learn.estimators.input_rows import checked_features, column_of, table_of
from discreet.learn.estimators.parameters import PrivateEstimator, not_fitted
from discreet.learn.regress import regress
from discreet.learn.regressor import Regressor
from discreet.learn.request import LearnRequest

TARGET = "target"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegressor(PrivateEstimator):
    """Predicts a number; every `fit` is charged before a row is read.

    `fit("people", "wage")` on a declared table of `curator`, or `fit(X, y)` on rows in memory with
    declared `domains` and `target_range`, out of `budget`.

    Guarantee: that of `discreet.learn.regress.regress`. `score` needs rows declared public.
    """

    _kind = "regressor"

    target_range: tuple[float, float] | None = None
    test_public: bool = False

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  # scikit-learn's names
        """Return the estimator, fitted; charged first."""
        more, target = None, str(y)
        if not isinstance(X, str):
            numbers = column_of(y, X).astype(np.float64)
            table = pa.table({TARGET: pa.array(numbers)})
            # A target without a declared range is refused there, unless it was accepted.
            domain = declared(table, self.target_range, accept=self.accept)[TARGET]
            more, target = (TARGET, table.column(TARGET), domain), TARGET
        with table_of(self, X, more) as (desk, name):
            found = regress(
                LearnRequest.of(name, target=target, epsilon=self.epsilon, task="regress"),
                desk,
            )
        self.model_ = found.model
        self.cost_ = found.cost.to_json()
        self.coef_ = found.model.weights[1:]
        self.intercept_ = float(found.model.weights[0])
        self._learned_from(X, _columns(found.model))
        return self

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the predicted number for each row; costs nothing."""
        rows = self._rows(X)
        return self.model_.predict(rows)

    def _rows(self, rows: Any) -> pa.Table:
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        return checked_features(_columns(self.model_), rows, type(self).__name__)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return R squared on rows that are public."""
        if not self.test_public:
            self._rows(X)  # what does not fit is refused for that first
            raise InvalidInput(
                "How good a regression is on these rows is itself a number about them.",
                hint="Say test_public=True if they are public.",
            )
        truth = column_of(y, X).astype(np.float64)
        gaps = ((self.predict(X) - truth) ** 2).sum()
        return float(1 - gaps / max(((truth - truth.mean()) ** 2).sum(), 1e-300))


def _columns(model: Regressor) -> list[str]:
    return list(dict.fromkeys(variable.column for variable in model.variables))
