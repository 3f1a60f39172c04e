"""A door that remembers what it let out, for the report: noisy tables and their laws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.noise.rng import Rng
from discreet.synth.encoding.merging import Merges
from discreet.synth.encoding.shape import Columns, Shape
from discreet.synth.measure.private_marginals import (
    Counter,
    MarginalBudget,
    Measured,
    PrivateMarginals,
    Unit,
)


class RecordingMarginals(PrivateMarginals):
    """The same door; `measured` lists every noisy table that passed, in order."""

    def __init__(
        self, counter: Counter, shape: Shape, purse: MarginalBudget, unit: Unit, rng: Rng
    ) -> None:
        super().__init__(counter, shape, purse, unit, rng)
        self.measured: list[Measured] = []

    def measure(
        self, wanted: Sequence[Columns], *, share: Fraction, merged: Merges | None = None
    ) -> list[Measured]:
        """Return noisy counts of several marginals, and remember them."""
        found = super().measure(wanted, share=share, merged=merged)
        self.measured += found
        return found
