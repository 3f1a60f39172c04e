"""Private learners: classifiers, regressors, selections and recommenders that pay before they look.

The names below are estimators with scikit-learn's habits; each is loaded when it is first used.
`discreet.learn(FILE, target=...)` trains a classifier on a file or a table.

Imported by: cli, curator, lab, server, tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.base.packages import make_callable

if TYPE_CHECKING:
    from discreet.work.learn.estimator_base import LearnBudget
    from discreet.work.learn.estimators import (
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
    "LearnBudget": "discreet.work.learn.estimator_base",
    "PrivateClassifier": "discreet.work.learn.estimators",
    "PrivateKMeans": "discreet.work.learn.estimators",
    "PrivatePCA": "discreet.work.learn.estimators",
    "PrivateRegressor": "discreet.work.learn.estimators",
    "PrivateScaler": "discreet.work.learn.estimators",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.work.learn' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


make_callable(__name__)
