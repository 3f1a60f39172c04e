"""The door of a learner: never more than was charged, noise for what a unit can do, twins caught."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.display import silent
from discreet.base.event import Composed
from discreet.base.unit import Neighbours
from discreet.errors import InternalError
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.tally import tally
from discreet.work.learn.classifier import TuningContext, fit_classifier, tuned
from discreet.work.learn.learners.registry import tunable
from discreet.work.learn.private_rows import WHOLE, Grouping
from learning import PaidRows, SeededRng, codes, encoding, residuals_of

CONCENTRATED = MarginalBudget(Fraction(1, 3), concentrated=True)
PURE = MarginalBudget(Fraction(2), concentrated=False)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("budget", [CONCENTRATED, PURE], ids=["zcdp", "pure"])
@pytest.mark.parametrize("name", tunable())
def test_everything_together_costs_at_most_what_was_charged(name, budget, classes):
    shape = encoding(classes).shape
    residuals = residuals_of(codes(300, classes), shape, budget=budget)
    fit_classifier(name, residuals, encoding(classes), silent)
    spent = tally(Composed(tuple(residuals.events)))
    amount = spent.rho if budget.concentrated else spent.epsilon
    assert 0.6 * budget.amount < amount <= budget.amount
    assert residuals.left > 0


def test_more_than_was_charged_is_refused():
    shape = encoding().shape
    residuals = residuals_of(codes(30), shape)
    all_rows = Grouping((0,), (np.arange(11),))
    residuals.residual_sums(all_rows, share=Fraction(2, 3))
    with pytest.raises(InternalError):
        residuals.residual_sums(all_rows, share=Fraction(1, 2))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("rows", [1, 3])
def test_noise_grows_with_what_a_unit_can_do(rows, neighbours):
    replaced = neighbours is Neighbours.REPLACE_ONE
    shape = encoding().shape
    residuals = residuals_of(codes(30), shape, unit=CountSensitivity(rows, neighbours))
    moves = rows * (2 if replaced else 1)
    law = residuals.residual_law(Fraction(1, 2))
    assert law.sigma_squared == Fraction(moves**2 * WHOLE**2)  # rho = 1/2


def worst_move(rows, unit_rows, replaced):
    """Return the largest squared move of residual sums when one unit's rows change, all in a cell."""
    shape = encoding().shape
    at = Grouping((0,), (np.zeros(11, dtype=np.int64),))
    other = rows[:0] if not replaced else np.array([[0, 0, 0]] * unit_rows, dtype=np.int32)
    mine = np.array([[0, 0, 1]] * unit_rows, dtype=np.int32)

    def sums(extra):
        found = PaidRows(np.concatenate([rows, extra]), shape, 2)
        return found.residual_sums(at)

    return int(((sums(mine) - sums(other)) ** 2).sum())


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_worst_unit_is_within_the_noise_and_the_twin_for_counts_is_not(neighbours):
    replaced = neighbours is Neighbours.REPLACE_ONE
    unit = CountSensitivity(3, neighbours)
    shape = encoding().shape
    residuals = residuals_of(codes(30), shape, unit=unit)
    claimed = residuals.residual_law(Fraction(1, 2)).sigma_squared
    moved = worst_move(codes(30), 3, replaced)
    # At scores of zero a residual is half of WHOLE: certain scores double it.
    assert moved <= claimed
    assert 4 * moved == claimed
    if replaced:
        # The broken twin takes the reach of counts, which have no signs: too little.
        assert unit.l2_squared * WHOLE**2 < claimed


def test_a_paid_choice_uses_no_more_than_its_purse():
    shape = encoding().shape
    spent = []
    from discreet.work.learn import classifier

    class Spy(classifier.PrivateResiduals):
        def _take(self, share):
            super()._take(share)
            spent.append(share * self.budget.amount)

    rows = PaidRows(codes(400), shape, 2)
    real = classifier.PrivateResiduals
    classifier.PrivateResiduals = Spy
    try:
        name, fitted = tuned(
            TuningContext(rows, CONCENTRATED, CountSensitivity(), SeededRng(1)),
            ["bayes", "logistic"],
            encoding(),
            silent,
        )
    finally:
        classifier.PrivateResiduals = real
    assert name in {"bayes", "logistic"}
    assert fitted.terms
    assert sum(spent) <= CONCENTRATED.amount * Fraction(98, 100)
