"""Estimators with scikit-learn's habits: classifier, regressor, scaler, PCA and k-means.

`fit`, `predict`, `score`, `get_params`; each fit charges a ledger before it reads a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Floats
from discreet.base.numbers import Epsilon, Number
from discreet.errors import InvalidInput
from discreet.work.learn.estimator_base import (
    PrivateEstimator,
    checked_features,
    class_setting,
    column_of,
    declared,
    labels_of,
    not_fitted,
    table_of,
)
from discreet.work.learn.evaluation import TestRequest, paid_test
from discreet.work.learn.read_file import codes_of_table
from discreet.work.learn.regression import Regressor, regress
from discreet.work.learn.training import train
from discreet.work.learn.training_plan import LearnRequest
from discreet.work.learn.unsupervised import (
    ClusterRequest,
    Moments,
    cluster,
    main_directions,
    moments,
)

TARGET = "target"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(PrivateEstimator):
    """Predicts classes; every `fit` is charged before a row is read.

    `fit("people", "income")` trains on a declared table of `curator`; `fit(X, y)` on rows in memory,
    whose `domains` and `classes` were declared (or are taken from them on `accept`), out of `budget`.

    Guarantee: that of `discreet.work.learn.training.train` for the table, or for the rows behind `budget`.
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


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegressor(PrivateEstimator):
    """Predicts a number; every `fit` is charged before a row is read.

    `fit("people", "wage")` on a declared table of `curator`, or `fit(X, y)` on rows in memory with
    declared `domains` and `target_range`, out of `budget`.

    Guarantee: that of `discreet.work.learn.regression.regress`. `score` needs rows declared public.
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


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateScaler(PrivateEstimator):
    """Brings columns to mean 0 and deviation 1, from noisy sums; gaps lie at the mean."""

    _kind = "transformer"

    columns: Sequence[str] = ()

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803  # scikit-learn's names
        """Return the estimator, fitted; charged first."""
        found = _moments(self, X)
        self.mean_ = found.means
        self.var_ = np.maximum(np.diag(found.covariance), found.noise)
        self.scale_ = np.sqrt(np.maximum(self.var_, 1e-300))
        self.names_ = found.columns
        self.n_features_in_ = len(found.columns)
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Return the rows scaled; costs nothing."""
        return (_matrix(self, X) - self.mean_) / self.scale_

    def fit_transform(self, X: Any, y: Any = None) -> Floats:  # noqa: N803
        """Return the rows scaled, after one paid fit."""
        return self.fit(X, y).transform(X)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivatePCA(PrivateEstimator):
    """The directions in which rows differ most, from a noisy covariance of declared columns."""

    _kind = "transformer"

    n_components: int = 2
    columns: Sequence[str] = ()

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Return the estimator, fitted; charged first."""
        found = _moments(self, X)
        self.mean_ = found.means
        self.components_, self.explained_variance_ = main_directions(found, self.n_components)
        total = max(float(np.maximum(np.linalg.eigvalsh(found.covariance), 0).sum()), 1e-300)
        self.explained_variance_ratio_ = self.explained_variance_ / total
        self.names_ = found.columns
        self.n_features_in_ = len(found.columns)
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Return where rows lie along the directions; costs nothing."""
        return np.asarray((_matrix(self, X) - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Return the rows that lie there."""
        return np.asarray(np.asarray(X) @ self.components_ + self.mean_)

    def fit_transform(self, X: Any, y: Any = None) -> Floats:  # noqa: N803
        """Return where the rows lie, after one paid fit."""
        return self.fit(X, y).transform(X)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateKMeans(PrivateEstimator):
    """Centres of clusters, from a few rounds of noisy counts and sums."""

    _kind = "clusterer"

    n_clusters: int = 8
    delta: Number | None = None
    columns: Sequence[str] = ()

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Return the estimator, fitted; charged first. There are no `labels_`: see `predict`."""
        with table_of(self, X) as (desk, table):
            request = ClusterRequest.of(
                table,
                columns=tuple(self.columns),
                clusters=self.n_clusters,
                epsilon=self.epsilon,
                delta=self.delta,
            )
            found = cluster(request, desk)
        self.cluster_centers_ = found.centres
        self.sizes_ = found.sizes
        self.cost_ = found.cost.to_json()
        self.names_ = found.columns
        self.n_features_in_ = len(found.columns)
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:  # noqa: N803
        """Return the nearest centre of each row; costs nothing."""
        rows = _matrix(self, X)
        gaps = ((rows[:, None, :] - self.cluster_centers_) ** 2).sum(axis=2)
        return np.asarray(gaps.argmin(axis=1))


def _moments(who: PrivateScaler | PrivatePCA, rows: Any) -> Moments:
    with table_of(who, rows) as (desk, table):
        return moments(table, who.columns, Epsilon.of(who.epsilon), desk)


def _matrix(who: PrivateScaler | PrivatePCA | PrivateKMeans, rows: Any) -> Floats:
    """Return the columns as numbers; what is no number lies at zero after scaling, as a mean."""
    if not hasattr(who, "names_"):
        raise not_fitted(who)
    names = who.names_
    table = checked_features(names, rows, type(who).__name__)
    found = [np.asarray(table.column(name).to_numpy(zero_copy_only=False), float) for name in names]
    matrix = np.stack(found, axis=1)
    middle = getattr(who, "mean_", np.zeros(len(names)))
    return np.where(np.isfinite(matrix), matrix, middle)
