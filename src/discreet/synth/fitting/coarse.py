"""Columns with many codes seen through fewer groups, and the law of the codes in each group."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.synth.encoding.merging import Groups
from discreet.synth.measure.simplex import Floats, onto_simplex
from discreet.synth.measure.singles import Singles

KEPT = 20
"""Columns with at most this many codes are left as they are."""

MOST_GROUPS = 64
"""A group holds at least this part of all rows, so that any pair of columns fits into memory."""


def coarsen(singles: Singles, deviation: float) -> tuple[Groups, ...]:
    """Return the groups of every column, given the noise that a pair's cells will have.

    A code that is common enough stays alone; the others are gathered in their order, neighbours
    together, which suits numbers and does no harm to names. Two groups of m rows meet in about
    m^2 / N rows, so m = sqrt(N * deviation) makes a typical cell as large as its noise: smaller
    groups would be counted without being seen. Post-processing of noisy counts.
    """
    least = max(math.sqrt(singles.total * deviation), singles.total / MOST_GROUPS)
    return tuple(
        np.arange(counts.size, dtype=np.int64) if counts.size <= KEPT else gather(counts, least)
        for counts in singles.counts
    )


def gather(counts: Floats, least: float) -> Groups:
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
    singles: Singles, groups: tuple[Groups, ...], rows: Sequence[Floats]
) -> tuple[Floats, ...]:
    """Return each code's chance inside its group, given the rows of each column's groups."""
    return tuple(
        _within(each.values.astype(np.float64), each.variance, groups[column], rows[column])
        for column, each in enumerate(singles.measured)
    )


def _within(noisy: Floats, variance: float, groups: Groups, rows: Floats) -> Floats:
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
