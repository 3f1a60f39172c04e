"""How far the tables of two data sets lie apart, and how strongly their columns hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import Columns

EDGES = (0.1, 0.01, 0.001)
"""Groups are told apart by their share of all rows: over a tenth, a hundredth, a thousandth, less."""


@dataclass(frozen=True, slots=True)
class TableDistance:
    """The distance of one table: total variation, and the largest difference of a share."""

    columns: Columns
    tvd: float
    worst: float


@dataclass(frozen=True, slots=True)
class MarginalGroups:
    """Cells of about the same size: how many, and how far off their counts are.

    `relative` is the median of |difference| / size, `absolute` the mean of |difference|, as a share
    of all rows.
    """

    above: float
    cells: int
    relative: float
    absolute: float


def shares(counts: npt.NDArray[np.generic]) -> Floats:
    """Return counts as parts of their total, without negative parts; all alike where there is none."""
    found = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
    total = found.sum()
    return found / total if total > 0 else np.full(found.shape, 1 / max(found.size, 1))


def apart(columns: Columns, first: Floats, second: Floats) -> TableDistance:
    """Return how far two tables of shares lie apart."""
    difference = np.abs(first - second)
    return TableDistance(columns, float(difference.sum() / 2), float(difference.max(initial=0.0)))


def cramers_v(counts: npt.NDArray[np.generic]) -> float:
    """Return Cramér's V of a two-way table: 0 for independent columns, 1 if one gives the other.

    >>> cramers_v(np.array([[5, 0], [0, 5]]))
    1.0
    """
    table = shares(counts)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    table = table[rows > 0][:, columns > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    squared = float((((table - expected) ** 2) / expected).sum())
    return float(min(1.0, np.sqrt(squared / least)))


def groups(tables: Sequence[tuple[Floats, Floats]]) -> tuple[MarginalGroups, ...]:
    """Return how well groups of each size are kept, over the cells of many tables."""
    if not tables:
        return ()
    first = np.concatenate([one.ravel() for one, _ in tables])
    second = np.concatenate([two.ravel() for _, two in tables])
    found, below = [], np.inf
    for above in (*EDGES, 0.0):
        here = (first > above) & (first <= below)
        off = np.abs(first[here] - second[here])
        relative = float(np.median(off / first[here])) if here.any() else float("nan")
        absolute = float(off.mean()) if here.any() else float("nan")
        found.append(MarginalGroups(above, int(here.sum()), relative, absolute))
        below = above
    return tuple(found)


def invented(tables: Sequence[tuple[Floats, Floats]]) -> float:
    """Return the share of the second's rows that lie where the first has none, over many tables."""
    if not tables:
        return 0.0
    return float(np.mean([two[one == 0].sum() for one, two in tables]))
