"""From measures and a budget to mechanisms: the family of noise with the smaller error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from discreet.account.price import least_size
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import QueryRefused
from discreet.kernel.mechanism import Law, Mechanisms, Selection, Stability
from discreet.noise.additive import GREATEST_SCALE, SMALLEST_SCALE
from discreet.noise.laws import NoiseLaw
from discreet.noise.laws.registry import LAWS
from discreet.plan.keys import PrivateGroups, PublicGroups
from discreet.plan.measure import MeasuredOutputs

CONCENTRATED_UP_TO = 32
"""Above this epsilon pure noise is the smaller by far, and nothing is promised anyway."""


def choose(
    measured: MeasuredOutputs,
    groups: PublicGroups | PrivateGroups,
    stability: Stability,
    *,
    epsilon: Epsilon,
    delta: Delta,
) -> Mechanisms:
    """Return the mechanisms that should answer all measures within (epsilon, delta).

    Measure i gets the share w_i of epsilon (or of rho), the shares add up to one, and each mechanism
    is calibrated to the sensitivity that the planner expects (docs/notes/0015-mechanisms.md). That is
    a proposal: what it really costs is derived from the SQL by the kernel.
    """
    epsilons = shares_of(measured, epsilon)
    selections = {
        name: Selection(choice.quantile, epsilons[name], choice.bins)
        for name, choice in measured.choices
    }
    for_noise = sum((epsilons[name] for name, _ in measured.measures), Fraction(0))
    private = isinstance(groups, PrivateGroups)
    share = delta.value / 2 if private else delta.value
    found: dict[str, Law] = {}
    for law in LAWS.values():
        if not law.concentrated:
            rival = _apart(law, measured, stability, epsilons)
        elif share and 0 < for_noise <= CONCENTRATED_UP_TO:
            rival = _together(law, measured, stability, Epsilon(for_noise), Delta(share))
        else:
            continue
        if not found or _better(rival, found):
            found = rival
    failing = delta.value / 2 if private else Fraction(0)
    return Mechanisms(found, selections, units=measured.units, failing=failing)


def shares_of(measured: MeasuredOutputs, epsilon: Epsilon) -> dict[str, Fraction]:
    """Return what each measure and choice gets of `epsilon`."""
    total = sum(measured.shares.values(), Fraction(0))
    return {name: epsilon.value * share / total for name, share in measured.shares.items()}


def _drawable(scale: Fraction) -> Fraction:
    """Return a scale that the samplers can draw, no smaller than what was asked for.

    What cannot be drawn is refused here, where nothing has been charged yet.
    """
    if scale > GREATEST_SCALE:
        raise QueryRefused(
            "The noise of this answer would be wider than any number it could be added to.",
            hint="Use a larger epsilon, a lower max_rows, or a coarser step for the column.",
        )
    return max(scale, SMALLEST_SCALE)


def _apart(
    law: type[NoiseLaw],
    measured: MeasuredOutputs,
    stability: Stability,
    epsilons: Mapping[str, Fraction],
) -> dict[str, Law]:
    """Return pure noise for each measure, by its own epsilon."""
    return {
        name: law(_drawable(law.costing(epsilons[name], stability.l1(measure.bound)).size))
        for name, measure in measured.measures
    }


def _together(
    law: type[NoiseLaw],
    measured: MeasuredOutputs,
    stability: Stability,
    epsilon: Epsilon,
    delta: Delta,
) -> dict[str, Law]:
    """Return concentrated noise for all measures together, weighted like their shares."""

    def least(moved: Fraction | int, coordinates: int | None) -> Fraction:
        unit = law(Fraction(1)).event(
            l1=lambda: moved, l2_squared=lambda: moved, coordinates=coordinates
        )
        return least_size(unit, epsilon, delta)

    shares = {name: measured.shares[name] for name, _ in measured.measures}
    total = sum(shares.values(), Fraction(0))
    if len(shares) == 1:
        ((name, measure),) = measured.measures
        return {name: law(least(stability.l2_squared(measure.bound), stability.coordinates))}
    # In units of each measure's own sensitivity the vector moves by at most 1 when weights are
    # sqrt(share / total): sum over i of (share_i / total) * 1 = 1.
    unit = least(1, None)
    return {
        name: law(unit * stability.l2_squared(measure.bound) * total / shares[name])
        for name, measure in measured.measures
    }


def _better(rival: Mapping[str, Law], laws: Mapping[str, Law]) -> bool:
    """Return whether the rival's 95% errors are smaller, as a geometric mean over the measures."""
    return sum(math.log(law.error95 / rival[name].error95) for name, law in laws.items()) > 0
