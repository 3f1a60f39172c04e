"""Entropy: the share of bits that the labels no longer tell about the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.anonymize.classes import SUPPRESSED
from discreet.anonymize.costs.cost import CellCost, ColumnCost, RecodedCopy, mean_over
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.core.arrays import Integers


def model(groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]) -> CellCost:
    """Return the measure of the search."""
    total = groups.total
    columns = []
    for ladder, weight in zip(ladders, weights, strict=True):
        full = weight * _bits(ladder.rungs[0].mass, total)
        paid = [full - weight * _bits(rung.mass, total) for rung in ladder.rungs]
        more = [weight * np.log2(total / np.maximum(rung.mass, 1)) for rung in ladder.rungs]
        columns.append(ColumnCost(paid, more, full))
    return mean_over(ladders, columns)


def _bits(mass: Integers, total: int) -> float:
    """Return the bits that labels tell about all rows together."""
    some = mass[mass > 0]
    return float(some @ np.log2(total / some))


def measured(copy: RecodedCopy) -> float:
    """Return what a copy costs."""
    groups, recoding = copy.groups, copy.recoding
    total = groups.total
    kept = recoding.klass != SUPPRESSED
    rows, klass = recoding.rows, np.where(kept, recoding.klass, 0)
    lost = most = 0.0
    for place, (weight, labels) in enumerate(zip(copy.weights, recoding.labels, strict=True)):
        values = groups.codes[place]
        mass = np.bincount(values, weights=groups.rows)[values[recoding.combination]]
        most += weight * float(rows @ np.log2(total / mass))
        cover = np.full(len(rows), total, dtype=np.int64)
        if recoding.classes:
            cover = np.where(kept, labels.mass[recoding.cells[place][klass]], total)
        lost += weight * float(rows @ np.log2(cover / mass))
    return lost / most if most else 0.0
