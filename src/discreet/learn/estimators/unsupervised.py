"""Scaling, principal components (PCA) and clusters with scikit-learn's habits; every fit is charged first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.numbers import Epsilon, Number
from discreet.learn.estimators.input_rows import checked_features, table_of
from discreet.learn.estimators.parameters import PrivateEstimator, not_fitted
from discreet.learn.unsupervised.clusters import ClusterRequest, cluster
from discreet.learn.unsupervised.moments import Moments, main_directions, moments


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
