"""From measures and a budget to mechanisms: the family of noise with the smaller error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from discreet.account.calibrate import gaussian_sigma_squared, laplace_scale
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import QueryRefused
from discreet.kernel.mechanism import Law, Mechanisms, Selection
from discreet.kernel.sensitivity import Stability
from discreet.noise.additive import GREATEST_SCALE, SMALLEST_SCALE
from discreet.noise.laws import GaussianLaw, LaplaceLaw
from discreet.plan.keys import PrivateGroups, PublicGroups
from discreet.plan.measure import MeasuredOutputs

GAUSSIAN_UP_TO = 32
"""Above this epsilon Laplace noise is the smaller by far, and nothing is promised anyway."""


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
    laws: dict[str, Law] = {
        name: LaplaceLaw(
            _drawable(laplace_scale(stability.l1(measure.bound), Epsilon(epsilons[name])))
        )
        for name, measure in measured.measures
    }
    if share and 0 < for_noise <= GAUSSIAN_UP_TO:
        rival = _gaussian(measured, stability, for_noise, Delta(share))
        if _better(rival, laws):
            laws = rival
    failing = delta.value / 2 if private else Fraction(0)
    return Mechanisms(laws, selections, units=measured.units, failing=failing)


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


def _gaussian(
    measured: MeasuredOutputs, stability: Stability, epsilon: Fraction, delta: Delta
) -> dict[str, Law]:
    """Return Gaussian laws for all measures together, weighted like their shares."""
    shares = {name: measured.shares[name] for name, _ in measured.measures}
    total = sum(shares.values(), Fraction(0))
    if len(shares) == 1:
        ((name, measure),) = measured.measures
        squared = stability.l2_squared(measure.bound)
        found = gaussian_sigma_squared(squared, Epsilon(epsilon), delta, stability.coordinates)
        return {name: GaussianLaw(found)}
    # In units of each measure's own sensitivity the vector moves by at most 1 when weights are
    # sqrt(share / total): sum over i of (share_i / total) * 1 = 1.
    unit = gaussian_sigma_squared(1, Epsilon(epsilon), delta)
    return {
        name: GaussianLaw(unit * stability.l2_squared(measure.bound) * total / shares[name])
        for name, measure in measured.measures
    }


def _better(rival: Mapping[str, Law], laws: Mapping[str, Law]) -> bool:
    """Return whether the rival's 95% errors are smaller, as a geometric mean over the measures."""
    gain = 0.0
    for name, law in laws.items():
        # 2.9957 = ln 20 scales and 1.96 standard deviations hold 95% of the two laws.
        laplace = 2.9957 * math.sqrt(float(law.variance) / 2)
        gaussian = 1.96 * math.sqrt(float(rival[name].variance))
        gain += math.log(laplace / gaussian)
    return gain > 0
