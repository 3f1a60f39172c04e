"""What a planner proposes and the kernel admits: noise laws, selections, a threshold, their event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.core.event import NOTHING, PrivacyEvent, Pure, Select
from discreet.noise.laws import NoiseLaw

Law: TypeAlias = NoiseLaw


@dataclass(frozen=True, slots=True)
class Selection:
    """A quantile by the exponential mechanism over `bins` public candidates."""

    quantile: Fraction
    epsilon: Fraction
    bins: int
    sensitivity: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class LargestGroup:
    """The group with the most rows, chosen among public groups.

    `flip`: by permute-and-flip, whose loss is never larger; otherwise by the exponential mechanism,
    which costs less where budgets are counted in rho.
    """

    epsilon: Fraction
    flip: bool
    sensitivity: int = 0
    monotone: bool = False

    @property
    def event(self) -> PrivacyEvent:
        """Return what to tell the accountant."""
        return Pure(self.epsilon) if self.flip else Select(self.epsilon)


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What will be added to, or chosen from, the exact results; and what to tell the accountant.

    `units` names the measure that private groups are thresholded on, None where keys are public;
    `failing` is the chance that a threshold may fail. A planner fills in laws, selections, top, units
    and failing; sensitivities, threshold and event are the kernel's (`seal.admit`).
    """

    laws: Mapping[str, Law]
    selections: Mapping[str, Selection]
    top: LargestGroup | None = None
    units: str | None = None
    failing: Fraction = Fraction(0)
    threshold: int | None = None
    event: PrivacyEvent = NOTHING
