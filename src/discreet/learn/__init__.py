"""Private learners: classifiers, regressors, selections and recommenders that pay before they look.

The names below are estimators with scikit-learn's habits; each is loaded when it is first used.
`discreet.learn(FILE, target=...)` trains a classifier on a file or a table.

Imported by: api, attack, cli, client, course, server, tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.core.packages import make_callable

if TYPE_CHECKING:
    from discreet.learn.estimator_base import LearnBudget
    from discreet.learn.estimators import (
        PrivateClassifier,
        PrivateKMeans,
        PrivatePCA,
        PrivateRegressor,
        PrivateScaler,
    )

__all__ = [
    "LearnBudget",
    "PrivateClassifier",
    "PrivateKMeans",
    "PrivatePCA",
    "PrivateRegressor",
    "PrivateScaler",
]

_HOMES = {
    "LearnBudget": "discreet.learn.estimator_base",
    "PrivateClassifier": "discreet.learn.estimators",
    "PrivateKMeans": "discreet.learn.estimators",
    "PrivatePCA": "discreet.learn.estimators",
    "PrivateRegressor": "discreet.learn.estimators",
    "PrivateScaler": "discreet.learn.estimators",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.learn' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


make_callable(__name__)
