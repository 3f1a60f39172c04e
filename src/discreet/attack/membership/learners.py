"""What the membership game is played against: an overfitted model, our learners, and our copies.

Each is a function from who is in to a score for everybody: how well it knows the person. The private
ones are the very functions that `discreet learn` and `discreet synth` call after their charge, with
noise from the operating system's entropy; no ledger is needed for made-up budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.account.convert import rho_of_target
from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.numbers import to_fraction
from discreet.core.progress import silent
from discreet.core.schema import FiniteDomain
from discreet.errors import InvalidInput
from discreet.learn.evaluation.read_file import codes_of_table
from discreet.learn.fit_classifier import fit_classifier
from discreet.learn.measure.columns import check_target, encoding_of, feature_column
from discreet.learn.measure.residual_sums import PrivateResiduals
from discreet.learn.measure.rows import PaidRows
from discreet.learn.model import Classifier
from discreet.noise.rng import SystemRng
from discreet.synth.budget import LARGEST
from discreet.synth.columns import Coded, Encoding
from discreet.synth.measure.private_marginals import CountSensitivity, MarginalBudget

Victim = Callable[[Bits], Floats]
"""Trains on those who are in, and returns a score for everybody."""
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """People as codes: the features, and last the class that models predict."""

    encoding: Encoding
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: pa.Table, domains: Mapping[str, FiniteDomain], target: str) -> Pool:
        """Return the people who have a class; the domains are public."""
        coded = {name: Coded(name, domain) for name, domain in domains.items()}
        goal = next((c for name, c in coded.items() if name.lower() == target.lower()), None)
        if goal is None:
            raise InvalidInput(
                f"There is no column '{target}' for a model to predict.",
                hint=f"There are: {', '.join(coded)}.",
            )
        check_target(goal)
        features = [feature_column(each) for each in coded.values() if each is not goal]
        encoding = encoding_of("people", features, goal)
        codes = codes_of_table(rows, encoding.coded)
        return cls(encoding, codes[codes[:, -1] >= 0])

    @property
    def classes(self) -> Integers:
        """Return everybody's class."""
        return self.codes[:, -1].astype(np.int64)

    def indicators(self) -> Floats:
        """Return the features as zeros and ones, a column for each code."""
        sizes = self.encoding.shape.sizes[:-1]
        parts = [np.eye(size)[self.codes[:, i]] for i, size in enumerate(sizes)]
        return np.concatenate(parts, axis=1)


def overfitted(pool: Pool) -> Victim:
    """Return a model that learns its rows by heart: least squares over all pairs of values.

    The kernel is the squared share of columns in which two people agree, which is the inner product
    of all pairs of values; with next to no ridge it passes through every training row.
    """
    known = pool.indicators()
    width = len(pool.encoding.coded) - 1
    kernel = (known @ known.T / width) ** 2
    truth = np.eye(pool.encoding.shape.sizes[-1])[pool.classes]

    def fit(inside: Bits) -> Floats:
        rows = np.flatnonzero(inside)
        ridge = _RIDGE * np.eye(len(rows))
        weights = np.linalg.solve(kernel[np.ix_(rows, rows)] + ridge, truth[rows])
        # Least squares misses a row that it has seen by next to nothing.
        margin = _margin(kernel[:, rows] @ weights, pool.classes)
        return np.asarray(-np.log(np.abs(1 - margin) + _RIDGE))

    return fit


def our_learner(pool: Pool, kind: str, *, epsilon: float, delta: float) -> Victim:
    """Return one of the classifiers of `discreet learn` at this price."""
    budget = marginal_budget(epsilon, delta)
    encoding = pool.encoding

    def fit(inside: Bits) -> Floats:
        rows = PaidRows(pool.codes[inside], encoding.shape, len(encoding.coded) - 1)
        residuals = PrivateResiduals(rows, budget, CountSensitivity(), SystemRng())
        fitted = fit_classifier(kind, residuals, encoding, silent)
        model = Classifier(kind, encoding, fitted.intercept, fitted.terms)
        return _margin(model.scores(pool.codes), pool.classes)

    return fit


def marginal_budget(epsilon: float, delta: float) -> MarginalBudget:
    """Return what (epsilon, delta) buys, unpriced: rho of zCDP where there is a delta, else epsilon."""
    price, risk = to_fraction(repr(epsilon)), to_fraction(repr(delta))
    if not risk:
        return MarginalBudget(min(price, LARGEST), concentrated=False)
    return MarginalBudget(min(rho_of_target(price, risk), Fraction(LARGEST)), concentrated=True)


def _margin(scores: Floats, classes: Integers) -> Floats:
    """Return by how much the score of the true class exceeds the best other."""
    own = scores[np.arange(len(scores)), classes]
    others = scores.copy()
    others[np.arange(len(scores)), classes] = -np.inf
    return np.asarray(own - others.max(axis=1))
