"""The default: the method that suits the number of rows and the price, by a stated rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.base.display import Progress, silent
from discreet.measure.one_way_marginals import agreed_total
from discreet.measure.private_marginals import PartialMarginals, PrivateMarginals
from discreet.measure.shape import WorkloadSpec
from discreet.work.synth.methods import adaptive, independent
from discreet.work.synth.models.model import Model

COUNT = Fraction(1, 50)
"""The part of the budget that counts the rows, which nothing else may say for free."""

FEW = 100.0
"""Rows for each standard deviation of a single count below which pairs of columns are all noise.

Fixed on the tables that benchmarks/synth_data.py calls TUNED; docs/benchmarks.md has the others."""


@dataclass(frozen=True, slots=True)
class PickedMethod:
    """Which method was taken, why, and the private marginals with the rest of the budget."""

    name: str
    words: str
    marginals: PartialMarginals


def pick(marginals: PrivateMarginals) -> PickedMethod:
    """Return the method for a table: by public sizes, the price and a noisy number of rows.

    The rows are counted by the column of fewest codes, so that little noise adds up.

    Guarantee: a share of 1/50; the rule reads public sizes and that noisy table. The rest of the
        budget, 49/50, is that of the marginals that are handed on.
    """
    column = min(range(marginals.shape.width), key=lambda i: marginals.shape.sizes[i])
    rows = agreed_total(marginals.measure([(column,)], share=COUNT))
    # Without a ratio: at a very high price there is no noise that a float could tell.
    few = rows < FEW * math.sqrt(marginals.law(Fraction(1)).variance)
    name = "independent" if few else "adaptive"
    why = "too few" if name == "independent" else "enough"
    words = (
        f"auto took '{name}': about {rows:,.0f} rows are {why} at this price to see how columns "
        "hang together."
    )
    return PickedMethod(name, words, PartialMarginals(marginals, 1 - COUNT))


def fit(
    marginals: PrivateMarginals,
    *,
    workload: WorkloadSpec | None = None,
    progress: Progress = silent,
) -> Model:
    """Return the model of the method that `pick` takes.

    Guarantee: that of `pick`, and of the method with 49/50 of the budget.
    """
    return fit_picked(pick(marginals), workload=workload, progress=progress)


def fit_picked(
    picked: PickedMethod, *, workload: WorkloadSpec | None = None, progress: Progress = silent
) -> Model:
    """Return the model of a method that was taken."""
    if picked.name == "independent":
        return independent.fit(picked.marginals, progress=progress)
    return adaptive.fit(picked.marginals, workload=workload, progress=progress)
