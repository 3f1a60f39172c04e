"""What scikit-learn expects of any estimator: parameters that can be read, set and copied.

Nothing here imports scikit-learn: it is asked for its tags only by scikit-learn itself.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, Self

import numpy as np

from discreet.core.numbers import Number
from discreet.errors import BadRows
from discreet.learn.estimators.budget import LearnBudget
from discreet.release.desk import Desk


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator:
    """Parameters are the arguments of `__init__`, kept as they were given; copies share the ledger.

    Rows are in a declared table of `curator`, or in memory: then out of `budget`, with the `domains` that
    were declared, or on `accept` those that the rows show.
    """

    _kind = "estimator"

    epsilon: Number
    curator: Desk | None = None
    budget: LearnBudget | None = None
    domains: Mapping[str, Any] | Sequence[Any] | None = None
    accept: bool = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's word
        """Return the parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Return the estimator after changing some parameters."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise BadRows(
                    f"{type(self).__name__} has no parameter '{name[:40]}'.",
                    hint=f"There are: {', '.join(known)}.",
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # Never a copy of the ledger: what a copy spends, everybody has spent.
        return type(self)(**self.get_params())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _learned_from(self, rows: Any, names: Sequence[str]) -> None:
        """Keep how many features there were, and their names where the rows name them."""
        self.n_features_in_ = len(names)
        if hasattr(rows, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        words = import_module("sklearn.utils")
        kind = self._kind
        return words.Tags(
            estimator_type=kind if kind in {"classifier", "regressor", "clusterer"} else None,
            target_tags=words.TargetTags(required=kind in {"classifier", "regressor"}),
            classifier_tags=words.ClassifierTags(poor_score=True) if kind == "classifier" else None,
            regressor_tags=words.RegressorTags(poor_score=True) if kind == "regressor" else None,
            transformer_tags=words.TransformerTags() if kind == "transformer" else None,
            input_tags=words.InputTags(allow_nan=True, string=True),
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({said})"


def warn_of_column(place: int) -> None:
    """Warn, as scikit-learn does and in its own words where it is in use, of a target in two dimensions."""
    known = sys.modules.get("sklearn.exceptions")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Use y.ravel().",
        UserWarning if known is None else known.DataConversionWarning,
        stacklevel=place + 1,
    )


def not_fitted(estimator: PrivateEstimator) -> Exception:
    """Return the refusal of a model that was not trained; scikit-learn's own where that is in use."""
    known = sys.modules.get("sklearn.exceptions")
    said = f"This {type(estimator).__name__} is not fitted yet: call fit first."
    return BadRows(said) if known is None else known.NotFittedError(said)
