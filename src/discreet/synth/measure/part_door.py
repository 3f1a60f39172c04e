"""A door with a fixed part of another one's budget: for methods that run beside or after others."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InternalError
from discreet.synth.measure.private_marginals import Measured, PrivateMarginals


class PartDoor(PrivateMarginals):
    """A door that gives a method a fixed part of another door's budget.

    Guarantee: a share of this door is that share times `part` of the outer one, and shares here add
        up to at most 1; so the method uses at most `part`. Every way through a door takes its share
        by `_take`, which takes it from the outer one as well.
    """

    def __init__(self, outer: PrivateMarginals, part: Fraction) -> None:
        purse = outer.purse.part(part)
        super().__init__(outer._counter, outer.shape, purse, outer.unit, outer._rng)  # noqa: SLF001  # its own kind
        self.events = outer.events
        self._outer = outer
        self._part = part

    def _take(self, share: Fraction) -> None:
        if share <= 0 or self._spent + share > 1:
            raise InternalError("a method asked for more than its part")
        self._spent += share
        self._outer._take(share * self._part)  # noqa: SLF001  # its own kind

    def _keep(self, found: Sequence[Measured]) -> None:
        super()._keep(found)
        self._outer._keep(found)  # noqa: SLF001  # its own kind
