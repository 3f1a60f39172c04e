"""Which codes of a feature are told apart: decided from noisy counts by class, so it costs nothing more.

Neighbouring codes of an ordered feature are put together until each group stands out from the noise and
differs from its neighbours by more than noise would; rare values of a category are put together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.synth.shape import merge_counts

SEEN = 2.5
"""Standard deviations of noise that a group's count must exceed."""

DIFFERENT = 1.5
"""Mean squared difference of class shares, in units of its variance, that keeps neighbours apart:
about what shrinkage can still use."""

MOST_GROUPS = 24


@dataclass(frozen=True, slots=True, eq=False)
class BinnedFeature:
    """One feature: the group of each code, and noisy counts of each group by class.

    `column` is its place among the codes; `joined` says how many codes were counted for each group,
    which is how often the noise is in it. `ordered` tells how many of the groups stand in an order.
    """

    column: int
    groups: Integers
    counts: Floats
    joined: Floats
    ordered: int

    @property
    def sizes(self) -> Floats:
        """Return the noisy number of rows of each group, at least one."""
        return np.asarray(np.maximum(self.counts.sum(axis=1), 1.0))


def feature_of(
    column: int, counts: Floats, variance: float, *, ordered: bool, missing: bool
) -> BinnedFeature:
    """Return a feature from the noisy counts of its codes by class.

    `missing`: the last code stands for what is not there, and has no place in the order.
    """
    deviation = float(np.sqrt(variance))
    bar = SEEN * deviation * np.sqrt(counts.shape[1])
    known = len(counts) - (1 if missing else 0)
    if ordered and known > 0:
        groups = _ordered_groups(counts[:known], deviation, bar)
        places = int(groups.max()) + 1
        if missing:
            groups = np.append(groups, places)
    else:
        groups, places = _common(counts.sum(axis=1), bar), 0
    joined = np.bincount(groups).astype(np.float64)
    return BinnedFeature(column, groups, _together(counts, groups), joined, places)


def _together(counts: Floats, groups: Integers) -> Floats:
    return merge_counts(counts, (0,), {0: groups})


def _common(totals: Floats, bar: float) -> Integers:
    """Return a group for each common code, and one for all the rare ones."""
    groups = np.zeros(len(totals), dtype=np.int64)
    common = np.flatnonzero(totals >= bar)
    rare = len(common) < len(totals)
    groups[common] = np.arange(len(common)) + rare
    return groups


def _ordered_groups(counts: Floats, deviation: float, bar: float) -> Integers:
    groups = _standing_out(counts.sum(axis=1), bar)
    while groups[-1]:
        joined = np.bincount(groups).astype(np.float64)
        apart = _difference(_together(counts, groups), joined, deviation)
        least = int(np.argmin(apart))
        if apart[least] > DIFFERENT and len(joined) <= MOST_GROUPS:
            break
        groups = groups - (groups > least)
    return groups


def _standing_out(totals: Floats, bar: float) -> Integers:
    """Return runs of codes whose noisy counts reach the bar; a heavy code stands alone."""
    groups = np.zeros(len(totals), dtype=np.int64)
    held, current = 0.0, 0
    for i, total in enumerate(totals.tolist()):
        if i and (held >= bar or (total >= 3 * bar and held > bar / 3)):
            current, held = current + 1, 0.0
        groups[i] = current
        held += total
    if held < bar and current:
        groups[groups == current] = current - 1
    return groups


def _difference(counts: Floats, joined: Floats, deviation: float) -> Floats:
    """Return how different the class shares of neighbouring groups are, in units of variance."""
    sizes = np.maximum(counts.sum(axis=1), 1.0)
    shares = counts / sizes[:, None]
    both = (counts[1:] + counts[:-1]) / (sizes[1:] + sizes[:-1])[:, None]
    middle = np.clip(both, 0.02, 0.98)
    sampling = middle * (1 - middle) * (1 / sizes[1:] + 1 / sizes[:-1])[:, None]
    each = joined / sizes**2
    spread = (1 - middle) ** 2 + middle**2 * (counts.shape[1] - 1)
    noise = deviation**2 * (each[1:] + each[:-1])[:, None] * spread
    return np.asarray(((shares[1:] - shares[:-1]) ** 2 / (sampling + noise)).mean(axis=1))
