"""The worst-hit person's bill worked out the plain way: axes cut and looked at step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.base.event import NULL, Positions
from discreet.privacy.ledger.worst.grid import Axis, AxisBox, BillGrid, bounds
from discreet.privacy.ledger.worst.small_grids import Nearest
from discreet.privacy.ledger.worst.worst_hit import Worst


def touched(axis: Axis, positions: Positions) -> Any:
    """Return the atoms of every segment that one of the spans meets."""
    lows, highs = bounds(positions)
    ends = np.append(axis.starts[1:] - 1, np.iinfo(np.int64).max)
    met = [
        any(low <= end and start <= high for low, high in zip(lows, highs, strict=True))
        for start, end in zip(axis.starts, ends, strict=True)
    ]
    return np.unique(axis.atom_of[np.array(met)])


def refined(axis: Axis, positions: Positions) -> tuple[Axis, Any]:
    """Cut at every edge, then see which atoms have segments in and out."""
    cut = _cut(axis, positions)
    inside = cut.inside(positions)
    held = np.bincount(cut.atom_of[inside], minlength=cut.count)
    split = (held > 0) & (held < np.bincount(cut.atom_of, minlength=cut.count))
    if not split.any():
        return axis, None
    first_in = np.full(cut.count, len(inside), dtype=np.int64)
    first_out = first_in.copy()
    order = np.arange(len(inside))
    np.minimum.at(first_in, cut.atom_of[inside], order[inside])
    np.minimum.at(first_out, cut.atom_of[~inside], order[~inside])
    renamed = np.arange(cut.count) + np.cumsum(split) - split
    second = split[cut.atom_of] & (inside == (first_out < first_in)[cut.atom_of])
    origin = np.repeat(np.arange(cut.count), 1 + split)
    return Axis(cut.starts, renamed[cut.atom_of] + second, len(origin)), origin


def _cut(axis: Axis, positions: Positions) -> Axis:
    lows, highs = bounds(positions)
    for edge in np.union1d(lows, highs + 1).tolist():
        at = int(np.searchsorted(axis.starts, edge))
        if edge > NULL and edge not in axis.starts:
            starts = np.insert(axis.starts, at, edge)
            axis = Axis(starts, np.insert(axis.atom_of, at, axis.atom_of[at - 1]), axis.count)
    return axis


def width(axis: Axis, positions: Positions) -> float:
    """Add up the segments of the atoms that are touched."""
    wanted = np.zeros(axis.count, dtype=np.bool_)
    wanted[touched(axis, positions)] = True
    return float(np.diff(axis.starts)[wanted[axis.atom_of[:-1]]].sum())


def excess(grid: BillGrid, box: AxisBox) -> float:
    """Return how many times as many positions as `box` has lie in the atoms that it touches."""
    share = 1.0
    for name, axis in zip(grid.names, grid.axes, strict=True):
        if (positions := box.get(name)) is not None:
            share *= width(axis, positions) / len(positions)
    return share


@contextmanager
def plain() -> Iterator[None]:
    """Work everything out the plain way meanwhile."""
    with (
        patch.object(Axis, "touched", touched),
        patch.object(Axis, "refined", refined),
        patch.object(Axis, "count_with", lambda axis, p: refined(axis, p)[0].count),
        patch.object(Nearest, "excesses", lambda near, box: [excess(g, box) for g in near.grids]),
    ):
        yield


def everything(worst: Worst) -> list[Any]:
    """Return all that the bills consist of, to the last integer."""
    found: list[Any] = [worst.peak(), worst.where(0)]
    for group in worst._distinct(worst._groups.values()):
        found += [group.names, group.upper, group.best, group.spot, group.total]
        for grid in [*group.tables.grids, *([group.grid] if group.grid else [])]:
            found += list(_said(grid))
    return found


def _said(grid: BillGrid) -> Iterator[Any]:
    yield grid.names, grid.cells, grid.mass
    for axis in grid.axes:
        yield axis.starts.tolist(), axis.atom_of.tolist(), axis.count
    for component, plane in sorted(grid.planes.items()):
        yield component, plane.tolist()
