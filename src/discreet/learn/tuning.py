"""Paid tuning: several models, each trained with a part of the budget, one chosen by those it gets right.

Trying several settings and keeping the best is a look at the data for each of them. Here every training
is paid for, and so is the choice: the exponential mechanism on the number of rows predicted rightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.progress import Progress
from discreet.errors import InvalidInput
from discreet.learn.fit_classifier import fit_classifier
from discreet.learn.learners import CHECKING, tunable
from discreet.learn.measure.residual_sums import PrivateResiduals
from discreet.learn.measure.rows import PaidRows
from discreet.learn.model import FittedModel
from discreet.noise.rng import Rng
from discreet.synth.columns import Encoding
from discreet.synth.measure.private_marginals import Counter, CountSensitivity, MarginalBudget

FOR_CHOICE = Fraction(1, 20)
"""The part that pays for the choice: scores are numbers of rows and move by one, so little is enough."""

MOST = 6


@dataclass(frozen=True, slots=True)
class TuningContext:
    """What tuning works with: rows, what was paid for them, whose they are, and dice."""

    rows: PaidRows
    budget: MarginalBudget
    unit: CountSensitivity
    rng: Rng


def check_candidates(names: Sequence[str]) -> None:
    """Refuse a choice that is none; asked before anything is paid, too."""
    unknown = [name for name in names if name not in tunable()]
    if unknown or not 2 <= len(names) <= MOST or len(set(names)) != len(names):
        raise InvalidInput(
            f"A paid choice needs 2 to {MOST} different models.",
            hint=f"Models: {', '.join(tunable())}.",
        )


def tuned(
    context: TuningContext, names: Sequence[str], encoding: Encoding, progress: Progress
) -> tuple[str, FittedModel]:
    """Return the model that was chosen; uses all of the budget but the share for checking.

    Guarantee: each candidate has private residuals of its own with an equal part of the budget, and the choice
        some with `FOR_CHOICE` of it; the parts add up to 1 - CHECKING. A row is right or wrong, so a
        score moves by at most one for a row. (docs/notes/0044)
    """
    check_candidates(names)
    each = (1 - CHECKING - FOR_CHOICE) / len(names)
    fitted = []
    for name in names:
        context.rows.clear()
        # A method leaves CHECKING of its residuals unused; nothing else would use it here.
        residuals = PrivateResiduals(
            context.rows, context.budget.part(each), context.unit, context.rng
        )
        fitted.append(fit_classifier(name, residuals, encoding, progress))
    residuals = PrivateResiduals(
        context.rows, context.budget.part(FOR_CHOICE), context.unit, context.rng
    )

    def right(_: Counter) -> Integers:
        found = []
        for each in fitted:
            context.rows.show(each.intercept, each.terms)
            found.append(int(context.rows.right().sum()))
        return np.array(found, dtype=np.int64)

    picked = residuals.choose(right, sensitivity=1, share=Fraction(1))
    context.rows.show(fitted[picked].intercept, fitted[picked].terms)
    return names[picked], fitted[picked]
