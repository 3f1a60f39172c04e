"""Noisy sums of residuals beside noisy counts and choices, for training."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers
from discreet.learn.measure.rows import WHOLE, Grouping, PaidRows
from discreet.noise.laws import NoiseLaw
from discreet.noise.rng import Rng
from discreet.synth.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)


@dataclass(frozen=True, slots=True, eq=False)
class NoisySums:
    """Sums of residuals with noise, a row for each cell: may be shown."""

    values: Floats
    variance: float


class PrivateResiduals(PrivateMarginals):
    """Private marginals that also release noisy sums of residuals over the cells of a grouping.

    Guarantee: a row lies in one cell, where it adds a vector of whole numbers that depends on that
        row and on public numbers only (rows.py): at most WHOLE with two classes, at most 2 WHOLE in
        L1 and 2 WHOLE^2 in squared L2 with more. A unit has at most `unit.rows` rows, so it moves the
        sums by `unit.rows` times that; under replace-one by twice as much, since the terms have
        signs. The noise is for exactly this, and shares add up as in `PrivateMarginals`. (docs/notes/0044)
    """

    def __init__(
        self, rows: PaidRows, budget: MarginalBudget, unit: CountSensitivity, rng: Rng
    ) -> None:
        super().__init__(rows, rows.shape, budget, unit, rng)
        self._rows = rows

    @property
    def outputs(self) -> int:
        """Return how many scores a row has: one for two classes."""
        return self._rows.outputs

    def residual_law(self, share: Fraction) -> NoiseLaw:
        """Return the noise that one sum of residuals gets for a share, in steps; reads nothing."""
        return self.budget.part(share).law(l1=self._reach(), l2_squared=self._reach_squared())

    def residual_variance(self, share: Fraction) -> float:
        """Return the variance of that noise where a residual of one counts one."""
        return self.residual_law(share).variance / WHOLE**2

    def residual_sums(self, grouping: Grouping, *, share: Fraction) -> NoisySums:
        """Return noisy sums of what the present scores leave unexplained, for each cell."""
        self._take(share)
        law = self.residual_law(share)
        exact = self._rows.residual_sums(grouping)
        noisy = exact + self._draw(law, exact.shape)
        self.events.append(law.event(l1=self._reach, l2_squared=self._reach_squared))
        return NoisySums(noisy / WHOLE, law.variance / WHOLE**2)

    def checked(self, *, share: Fraction) -> tuple[int, int, float]:
        """Return noisy numbers of rows that the scores predict rightly and wrongly, and the deviation.

        A row is in one of the two, like in a marginal of two cells.
        """
        return self.counted_right(self._rows.right(), share=share)

    def counted_right(self, right: Bits, *, share: Fraction) -> tuple[int, int, float]:
        """Return the same for a model that is no sum of tables: `right` says it of each row alone."""
        counts = np.array([right.sum(), len(right) - right.sum()], dtype=np.int64)
        self._take(share)
        law = self.law(share)
        yes, no = (counts + self._draw(law, (2,))).tolist()
        self.events.append(self._event(law))
        return yes, no, float(np.sqrt(law.variance))

    def add(self, grouping: Grouping, steps: Integers) -> None:
        """Add public numbers, in steps of 1 / FINE, to the scores of all rows: costs nothing."""
        self._rows.add(grouping, steps)

    def _reach(self) -> int:
        return self.unit.l1 * WHOLE * (1 if self.outputs == 1 else 2)

    def _reach_squared(self) -> int:
        return self.unit.l1**2 * WHOLE**2 * (1 if self.outputs == 1 else 2)
