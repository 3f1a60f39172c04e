"""Columns with many codes seen through fewer groups, and the law of the codes in each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Bits, Floats
from discreet.measure.learned_domains import bars_of, seen_range
from discreet.measure.one_way_marginals import Singles, onto_simplex
from discreet.measure.shape import CodeGroups

KEPT = 20
"""Columns with at most this many codes are left as they are."""

SURPRISE = 5.0
"""Bins are noise while their squares exceed what is expected by less than the root of this times their
number: about one and a half standard deviations for Gaussian noise, one for Laplace noise."""

TOGETHER = 2.0
"""Standard deviations of their sum at which bins are no noise, however little each of them holds."""

MOST_GROUPS = 64
"""A group holds at least this part of all rows, so that any pair of columns fits into memory."""


Ends: TypeAlias = Mapping[int, tuple[int, int, int]]
"""For columns of binned numbers: the first and last bin in which rows are seen, and how many bins."""


def seen_ends(singles: Singles, ordered: Mapping[int, int]) -> Ends:
    """Return where the rows of binned numbers end, as far as the noise shows.

    A few rows of noise in the farthest bins would be worth more than all others together.
    """
    found = {}
    for column, bins in ordered.items():
        measured = singles.measured[column]
        ends = seen_range(measured.values[:bins], bars_of(measured))
        if ends is not None:
            sizes = measured.values[:bins] / math.sqrt(measured.variance)
            first = ends[0] - _not_noise(sizes[: ends[0]][::-1])
            last = ends[1] + _not_noise(sizes[ends[1] + 1 :])
            found[column] = (first, last, bins)
    return found


def _not_noise(sizes: Floats) -> int:
    """Return how many bins beyond an end, nearest first, are needed so that the rest is all noise.

    Many bins may hold a little each: none is seen, but together they are no noise any more: the
    squares of all, or the sum of the nearest 1, 2, 4, ... `sizes` are in standard deviations of a
    bin's noise.
    """
    taken = 0
    while taken < sizes.size:
        rest = sizes[taken:]
        near = _nearest_sum(rest)
        squares = float((rest**2).sum())
        if not near and squares <= rest.size + math.sqrt(SURPRISE * rest.size):
            break
        taken += near or max(1, rest.size // 8)
    return min(taken, sizes.size)


def _nearest_sum(sizes: Floats) -> int:
    """Return of how many of the nearest bins, 1, 2, 4, ..., the sum is no noise; 0 where of none."""
    sums = np.cumsum(sizes)
    many = 1
    while many <= sizes.size:
        if sums[many - 1] > TOGETHER * math.sqrt(many):
            return many
        many *= 2
    return 0


def coarsen(
    singles: Singles,
    deviation: float,
    ends: Ends | None = None,
    gaps: frozenset[int] = frozenset(),
) -> tuple[CodeGroups, ...]:
    """Return the groups of every column, given the noise that a pair's cells will have.

    Bins outside the `ends` of their column belong to the group of the bin at that end; the last code
    of a column in `gaps` stays alone.

    A code that is common enough stays alone; the others are gathered in their order, neighbours
    together, which suits numbers and does no harm to names. Two groups of m rows meet in about
    m^2 / N rows, so m = sqrt(N * deviation) makes a typical cell as large as its noise: smaller
    groups would be counted without being seen. Post-processing of noisy counts.
    """
    least = max(math.sqrt(singles.total * deviation), singles.total / MOST_GROUPS)
    found = []
    for column, counts in enumerate(singles.counts):
        apart = int(column in gaps and counts.size > 1)
        groups = _clipped(counts[: counts.size - apart], least, (ends or {}).get(column))
        alone = np.full(apart, groups.max() + 1, dtype=np.int64)
        found.append(np.concatenate([groups, alone]))
    return tuple(found)


def _groups(counts: Floats, least: float) -> CodeGroups:
    if counts.size <= KEPT:
        return np.arange(counts.size, dtype=np.int64)
    return gather(counts, least)


def _clipped(counts: Floats, least: float, ends: tuple[int, int, int] | None) -> CodeGroups:
    """Return groups of the codes between two ends; those beyond them join the last one."""
    if ends is None:
        return _groups(counts, least)
    places = _nearest(counts.size, ends)
    live = np.unique(places)
    return _groups(counts[live], least)[np.searchsorted(live, places)]


def live_codes(size: int, ends: Ends | None, column: int) -> Bits:
    """Return which codes of a column lie between its ends."""
    if ends is None or column not in ends:
        return np.ones(size, dtype=bool)
    live: Bits = _nearest(size, ends[column]) == np.arange(size)
    return live


def _nearest(size: int, ends: tuple[int, int, int]) -> CodeGroups:
    """Return, for each code, itself or the nearest bin in which rows are seen."""
    first, last, bins = ends
    codes = np.arange(size, dtype=np.int64)
    return np.where(codes < bins, np.clip(codes, first, last), codes)


def gather(counts: Floats, least: float) -> CodeGroups:
    """Return groups of at least about `least` rows; codes with half as many stay alone.

    >>> gather(np.array([90.0, 4.0, 2.5, 2.0, 1.0]), 6).tolist()
    [0, 1, 2, 2, 2]
    """
    light = counts < least / 2
    groups = np.cumsum(~light, dtype=np.int64) - 1
    rank = int((~light).sum())
    open_rows, members = 0.0, np.flatnonzero(light)
    first = rank
    for code in members:
        groups[code] = rank
        open_rows += float(counts[code])
        if open_rows >= least:
            rank, open_rows = rank + 1, 0.0
    if members.size and groups[members[-1]] == rank > first and open_rows < least / 2:
        groups[groups == rank] = rank - 1  # too few are left for a group of their own
    return groups


def within(
    singles: Singles,
    groups: tuple[CodeGroups, ...],
    rows: Sequence[Floats],
    ends: Ends | None = None,
) -> tuple[Floats, ...]:
    """Return each code's chance inside its group, given the rows of each column's groups.

    Bins outside the `ends` of their column have none, but for those that take what the bins inside
    cannot hold.
    """
    found = []
    for column, each in enumerate(singles.measured):
        noisy, mine = each.values.astype(np.float64), groups[column]
        live = live_codes(noisy.size, ends, column)
        if ends is not None and column in ends:
            live = _opened(noisy, math.sqrt(each.variance), (mine, rows[column]), ends[column])
        chances = np.zeros_like(noisy)
        chances[live] = _within(noisy[live], each.variance, mine[live], rows[column])
        found.append(chances)
    return tuple(found)


def _opened(
    noisy: Floats, deviation: float, given: tuple[CodeGroups, Floats], ends: tuple[int, int, int]
) -> Bits:
    """Return which codes may have rows: those between the ends, and some beyond them.

    Where other tables say that an end's group has more rows than the bins inside were seen to hold,
    as many bins beyond it are opened as hide one standard deviation of rows each: piled onto the
    last bin inside, they would stand out.
    """
    (groups, rows), (first, last, bins) = given, ends
    for end, step in ((first, -1), (last, 1)):
        mine = np.flatnonzero(groups[first : last + 1] == groups[end]) + first
        excess = float(rows[groups[end]]) - max(float(noisy[mine].sum()), 0.0)
        if excess > deviation * math.sqrt(mine.size):
            more = math.ceil(excess / deviation)
            first, last = (
                (max(first - more, 0), last) if step < 0 else (first, min(last + more, bins - 1))
            )
    return np.asarray(_nearest(noisy.size, (first, last, bins)) == np.arange(noisy.size))


def seen_rows(
    noisy: Floats, variance: float, groups: CodeGroups, live: Bits
) -> tuple[Floats, Floats]:
    """Return the noisy rows of each group, and how far off their squares are.

    Of codes beyond the ends half of what was counted counts, if it is above nothing: no rows were
    seen there, and none may be taken away for it.
    """
    far = np.bincount(groups, weights=np.where(live, 0.0, noisy))
    values = np.bincount(groups, weights=np.where(live, noisy, 0.0)) + np.maximum(far, 0.0) / 2
    spread: Floats = np.bincount(groups, weights=np.where(live, variance, variance / 4)).astype(
        float
    )
    return values, spread


def _within(noisy: Floats, variance: float, groups: CodeGroups, rows: Floats) -> Floats:
    """Return chances: in groups of three or more, noisy counts pulled towards their mean.

    By as much as the noise explains how they differ (James and Stein 1961): nearly equal codes
    become equal, and a group whose codes differ by more than noise keeps its peaks.
    """
    chances = np.empty_like(noisy)
    for group in range(int(groups.max()) + 1):
        mine = groups == group
        size, values, kept = int(mine.sum()), noisy[mine], 1.0
        mean = float(values.mean())
        if size >= 3:
            apart = float(((values - mean) ** 2).sum())
            kept = max(0.0, 1 - (size - 1) * variance / apart) if apart > 0 else 0.0
        total = max(float(rows[group]), 1.0)
        # Around the mean that the rows of the group call for, not the noisy one.
        chances[mine] = onto_simplex(total / size + kept * (values - mean), total) / total
    return chances
