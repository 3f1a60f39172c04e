"""Audits of whole learners: lower bounds on epsilon keep the claim, broken twins do not.

Many fits on two tables that differ in one row; for networks many noisy steps, with the row that pulls as
hard as it can. Twins: a four hundredth of the noise, no clipping, noise as for a mean instead of a sum, tuning for
nothing. A bound exceeds the truth with a chance of at most ALPHA.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.display import silent
from discreet.base.schema import CategoryDomain
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.batch import NoisySteps, least_noise
from discreet.testing import SeededRng
from discreet.testing.statistics import audit
from discreet.work.learn import classifier
from discreet.work.learn.classifier import Classifier, fit_classifier
from discreet.work.learn.learners import dp_sgd
from discreet.work.learn.learners.dp_sgd import BOUND, LARGEST_INPUT, Layers
from discreet.work.learn.learners.registry import tunable
from discreet.work.learn.private_rows import PaidRows, PrivateResiduals

DELTA = Fraction(1, 10**6)
RHO = Fraction(1, 50)  # epsilon 1 at this delta
ALPHA = 1e-6
FEW, MANY = 120, 4000
PLACE = Encoding(
    "t",
    (
        Coded("x", CategoryDomain(("a", "b")), missing=True),
        Coded("y", CategoryDomain(("no", "yes"))),
    ),
)
ROWS = np.array([[i % 2, i % 2] for i in range(60)], dtype=np.int32)
BESIDE = np.concatenate([ROWS, np.array([[0, 1]], dtype=np.int32)])


def weights(name, better):
    """Return a mechanism: fit, and look at the score of the value where the two tables differ.

    `better` is how many times too much the rows are looked at for what was charged.
    """

    def run(rows, trials):
        budget = MarginalBudget(RHO * better**2, concentrated=True)
        found = []
        for seed in range(trials):
            paid = PaidRows(rows, PLACE.shape, 1)
            residuals = PrivateResiduals(
                paid, budget, CountSensitivity(), SeededRng(seed + MANY * len(rows))
            )
            fitted = fit_classifier(name, residuals, PLACE, silent)
            model = Classifier(name, PLACE, fitted.intercept, fitted.terms)
            found.append(round(float(model.scores(ROWS[:1])[0, 1]) * 32))
        return np.array(found)

    return run


def learner_bound(name, *, better=1, trials=FEW):
    run = weights(name, better)
    return audit(run, ROWS, BESIDE, trials=trials, delta=float(DELTA), alpha=ALPHA).epsilon


@pytest.mark.parametrize("name", ["bayes"])
def test_a_learner_keeps_its_claim_and_next_to_no_noise_is_caught(name):
    assert learner_bound(name) <= 1
    assert learner_bound(name, better=400) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", tunable())
def test_a_learner_keeps_its_claim_in_full(name):
    assert learner_bound(name, trials=MANY // 2) <= 1
    assert learner_bound(name, better=400, trials=FEW) > 1


CLAIM = 2
WIDTH = 12


def pulls(rows, trials, *, share=Fraction(1)):
    """Return one noisy gradient along the direction in which a row pulls as hard as it can."""
    blank = NoisySteps(1, Fraction(1), 3 * WIDTH, BOUND, Fraction(1))
    priced = least_noise(blank, rho=Fraction(0), epsilon=Fraction(CLAIM), delta=DELTA)
    steps = replace(priced, sigma_squared=priced.sigma_squared * share**2)
    layers = Layers(np.zeros((WIDTH + 1, 1)), np.zeros((WIDTH + 2, 1)))
    inputs = np.full((rows, WIDTH), float(LARGEST_INPUT))
    held = dp_sgd.UnitRows(inputs, np.ones(rows, dtype=np.int64), np.arange(rows))
    rng = SeededRng(7 + rows)
    place = slice(WIDTH + 1, 2 * WIDTH + 1)  # the direct weights of the inputs
    each = [dp_sgd.noisy_gradient(held, layers, steps, rng)[place] for _ in range(trials)]
    return np.array([round(float(one.sum()) / WIDTH**0.5 * 2) for one in each])


def steps_bound(**more):
    """Return the audited epsilon of a step: that row is there, or it is not."""
    return audit(
        lambda rows, trials: pulls(rows, trials, **more),
        1,
        0,
        trials=400,
        delta=float(DELTA),
        alpha=ALPHA,
    ).epsilon


def test_noisy_steps_keep_their_price():
    assert steps_bound() <= CLAIM


def test_noise_as_for_a_mean_is_caught():
    assert steps_bound(share=Fraction(1, 16)) > CLAIM


def test_no_clipping_is_caught(monkeypatch):
    monkeypatch.setattr(dp_sgd, "_short", lambda *a: np.ones(len(a[0])))
    monkeypatch.setattr(dp_sgd, "_ROOM", 1e6)
    assert steps_bound() > CLAIM


def spending(budget):
    spent = []

    class Spy(PrivateResiduals):
        def _take(self, share):
            super()._take(share)
            spent.append(share * self.budget.amount)

    paid = PaidRows(ROWS, PLACE.shape, 1)
    real = classifier.PrivateResiduals
    classifier.PrivateResiduals = Spy
    try:
        given = classifier.TuningContext(paid, budget, CountSensitivity(), SeededRng(1))
        classifier.tuned(given, ["bayes", "logistic"], PLACE, silent)
    finally:
        classifier.PrivateResiduals = real
    return sum(spent)


class Undivided(MarginalBudget):
    """The twin: every candidate has all of the purse, and the choice too."""

    def part(self, share):
        return self


def test_tuning_for_nothing_is_caught():
    budget = MarginalBudget(RHO, concentrated=True)
    assert spending(budget) <= RHO
    assert spending(Undivided(RHO, concentrated=True)) > RHO
