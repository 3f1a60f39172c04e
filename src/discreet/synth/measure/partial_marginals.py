"""Private marginals with a fixed part of another one's budget: for methods that run beside or after others."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InternalError
from discreet.noise.laws import NoiseLaw
from discreet.synth.encoding.shape import Columns, Merges
from discreet.synth.measure.private_marginals import (
    Measured,
    PrivateMarginals,
    Scores,
)


class PartialMarginals(PrivateMarginals):
    """Private marginals that give a method a fixed part of another one's budget.

    Guarantee: a share of these is that share times `part` of the outer one, and shares here add
        up to at most 1; so the method uses at most `part`.
    """

    def __init__(self, outer: PrivateMarginals, part: Fraction) -> None:
        self.shape = outer.shape
        self.budget = outer.budget.part(part)
        self.unit = outer.unit
        self.events = outer.events
        self._outer = outer
        self._part = part
        self._spent = Fraction(0)
        self.measured: list[Measured] = []

    def law(self, share: Fraction) -> NoiseLaw:
        """Return the noise that a marginal gets for a share of the part."""
        return self._outer.law(share * self._part)

    def measure(
        self, wanted: Sequence[Columns], *, share: Fraction, merged: Merges | None = None
    ) -> list[Measured]:
        """Return noisy counts, paid from the part."""
        if not wanted:
            return []
        self._mine(share)
        found = self._outer.measure(wanted, share=share * self._part, merged=merged)
        self.measured += found
        return found

    def choose(self, scores: Scores, *, sensitivity: int, share: Fraction) -> int:
        """Return the index of a good candidate, paid from the part."""
        self._mine(share)
        return self._outer.choose(scores, sensitivity=sensitivity, share=share * self._part)

    def choose_several(
        self,
        scores: Scores,
        *,
        count: int,
        sensitivity: int,
        share: Fraction,
    ) -> list[int]:
        """Return different good candidates, paid from the part."""
        self._mine(share)
        return self._outer.choose_several(
            scores, count=count, sensitivity=sensitivity, share=share * self._part
        )

    def _mine(self, share: Fraction) -> None:
        if share <= 0 or self._spent + share > 1:
            raise InternalError("a method asked for more than its part")
        self._spent += share
