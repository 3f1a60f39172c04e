"""Private learners: classifiers, regressors, selections and recommenders that pay before they look.

The names below are estimators with scikit-learn's habits; each is loaded when it is first used.
`discreet.learn(FILE, target=...)` trains a classifier on a file or a table.

Imported by: api, attack, cli, client, course, server, tasks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.core.system.callable_package import make_callable

if TYPE_CHECKING:
    from discreet.learn.estimators.budget import LearnBudget
    from discreet.learn.estimators.classifier import PrivateClassifier
    from discreet.learn.estimators.regressor import PrivateRegressor
    from discreet.learn.estimators.unsupervised import PrivateKMeans, PrivatePCA, PrivateScaler

__all__ = [
    "LearnBudget",
    "PrivateClassifier",
    "PrivateKMeans",
    "PrivatePCA",
    "PrivateRegressor",
    "PrivateScaler",
]

_HOMES = {
    "LearnBudget": "discreet.learn.estimators.budget",
    "PrivateClassifier": "discreet.learn.estimators.classifier",
    "PrivateKMeans": "discreet.learn.estimators.unsupervised",
    "PrivatePCA": "discreet.learn.estimators.unsupervised",
    "PrivateRegressor": "discreet.learn.estimators.regressor",
    "PrivateScaler": "discreet.learn.estimators.unsupervised",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet.learn' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


make_callable(__name__)
