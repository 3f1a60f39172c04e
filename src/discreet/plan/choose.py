"""From measures and a budget to mechanisms: the family of noise with the smaller error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.account.calibrate import gaussian_sigma_squared, laplace_scale
from discreet.core.event import Composed, Failing, Gaussian, Laplace, PrivacyEvent, Select
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import QueryRefused
from discreet.noise.additive import GREATEST_SCALE, SMALLEST_SCALE
from discreet.noise.laws import GaussianLaw, LaplaceLaw
from discreet.noise.threshold import GroupNoise, threshold_for
from discreet.plan.keys import PrivateGroups, PublicGroups
from discreet.plan.measure import Choice, Kind, Measure, Measured
from discreet.plan.stability import Stability
from discreet.plan.top import Top, top_of

Law: TypeAlias = LaplaceLaw | GaussianLaw

GAUSSIAN_UP_TO = 32
"""Above this epsilon Laplace noise is the smaller by far, and nothing is promised anyway."""

BINS = 4096
"""A quantile is chosen among at most this many public values."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A quantile by the exponential mechanism over `bins` candidates, `width` positions each."""

    choice: Choice
    epsilon: Fraction
    sensitivity: Fraction
    bins: int
    width: int


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What will be added to, or chosen from, the exact results; and what to tell the accountant."""

    laws: Mapping[str, Law]
    selections: Mapping[str, Selection]
    threshold: int | None
    event: PrivacyEvent
    epsilons: Mapping[str, Fraction]
    top: Top | None = None


def choose(
    measured: Measured,
    groups: PublicGroups | PrivateGroups,
    stability: Stability,
    *,
    epsilon: Epsilon,
    delta: Delta,
) -> Mechanisms:
    """Return the mechanisms that answer all measures within (epsilon, delta).

    Guarantee: measure i gets the share w_i of epsilon (or of rho), the shares add up to one, and
        each mechanism is calibrated to its own sensitivity, so the whole is within (epsilon, delta)
        by composition. See docs/notes/0015-mechanisms.md.
    """
    total = sum(measured.shares.values(), Fraction(0))
    epsilons = {name: epsilon.value * share / total for name, share in measured.shares.items()}
    selections = {
        name: _selection(choice, epsilons[name], stability) for name, choice in measured.choices
    }
    for_noise = sum((epsilons[name] for name, _ in measured.measures), Fraction(0))
    private = isinstance(groups, PrivateGroups)
    share = delta.value / 2 if private else delta.value
    laws: dict[str, Law] = {
        name: LaplaceLaw(_drawable(laplace_scale(stability.l1(measure), Epsilon(epsilons[name]))))
        for name, measure in measured.measures
    }
    if share and 0 < for_noise <= GAUSSIAN_UP_TO:
        rival = _gaussian(measured, stability, for_noise, Delta(share))
        if _better(rival, laws):
            laws = rival
    event = _event(measured, stability, laws, selections)
    threshold = None
    if private:
        assert measured.units is not None, "private groups are always thresholded on units"
        threshold = threshold_for(
            group_noise(laws[measured.units]),
            Delta(delta.value / 2),
            max_groups=stability.coordinates,
        )
        if dict(measured.measures)[measured.units].kind is Kind.ROWS:
            # A public table may turn one unit into several rows of one group.
            threshold += stability.max_rows - 1
        event = Failing(event, delta.value / 2)
    return Mechanisms(laws, selections, threshold, event, epsilons)


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


def choose_top(stability: Stability, epsilon: Epsilon, *, pure: bool) -> Mechanisms:
    """Return the one selection that says which group is the largest."""
    top = top_of(stability, epsilon, pure=pure)
    return Mechanisms({}, {}, None, top.event, {}, top)


def _gaussian(
    measured: Measured, stability: Stability, epsilon: Fraction, delta: Delta
) -> dict[str, Law]:
    """Return Gaussian laws for all measures together, weighted like their shares."""
    shares = {name: measured.shares[name] for name, _ in measured.measures}
    total = sum(shares.values(), Fraction(0))
    if len(shares) == 1:
        ((name, measure),) = measured.measures
        squared = stability.l2_squared(measure)
        found = gaussian_sigma_squared(squared, Epsilon(epsilon), delta, stability.coordinates)
        return {name: GaussianLaw(found)}
    # In units of each measure's own sensitivity the vector moves by at most 1 when weights are
    # sqrt(share / total): sum over i of (share_i / total) * 1 = 1.
    unit = gaussian_sigma_squared(1, Epsilon(epsilon), delta)
    return {
        name: GaussianLaw(unit * stability.l2_squared(measure) * total / shares[name])
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


def _event(
    measured: Measured,
    stability: Stability,
    laws: Mapping[str, Law],
    selections: Mapping[str, Selection],
) -> PrivacyEvent:
    parts: list[PrivacyEvent] = [
        _noise_event(measure, stability, laws[name]) for name, measure in measured.measures
    ]
    parts += [Select(selection.epsilon) for selection in selections.values()]
    return parts[0] if len(parts) == 1 else Composed(tuple(parts))


def _noise_event(measure: Measure, stability: Stability, law: Law) -> PrivacyEvent:
    if isinstance(law, LaplaceLaw):
        return Laplace(law.scale, Fraction(stability.l1(measure)))
    squared = Fraction(stability.l2_squared(measure))
    return Gaussian(law.sigma_squared, squared, stability.coordinates)


def _selection(choice: Choice, epsilon: Fraction, stability: Stability) -> Selection:
    """Return the selection of one quantile.

    Guarantee: one row moves (1-q) * below - q * above by at most max(q, 1-q); a replaced row by at
        most 1 within a group, and by twice the first when it may change the group.
    """
    q = choice.quantile
    one = max(q, 1 - q)
    moved = one * stability.neighbours.moves if stability.grouped else one
    if stability.neighbours.moves == 2 and not stability.grouped:
        moved = Fraction(1)
    domain = choice.domain
    size = domain.size  # type: ignore[union-attr]  # the binder lets only finite domains pass
    width = -(-size // BINS)
    return Selection(choice, epsilon, moved * stability.max_rows, -(-size // width), width)


def group_noise(law: Law) -> GroupNoise:
    """Return the noise on the number of units that a threshold is computed for."""
    if isinstance(law, LaplaceLaw):
        return GroupNoise.laplace(law.scale)
    return GroupNoise.gaussian(law.sigma_squared)
