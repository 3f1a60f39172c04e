"""Chooses the grid whose bound a charge raises least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.core.region import Positions
from discreet.ledger.worst.axes import Axis
from discreet.ledger.worst.grid import AxisBox, BillGrid


class Nearest:
    """Several grids that all know some axes, laid side by side along each of these.

    Guarantee: `excesses` tells of each grid how many times as many positions as a box has lie in the
        atoms that it touches, without those after the last cut.
    """

    def __init__(self, grids: Sequence[BillGrid]) -> None:
        self.grids = tuple(grids)
        self._axes = tuple(grid.axes for grid in self.grids)
        self._sides: dict[str, _Side] = {}

    def holds(self, grids: Sequence[BillGrid]) -> bool:
        """Return whether these are the grids, and none was split since."""
        return len(grids) == len(self.grids) and all(
            new is old and new.axes is axes
            for new, old, axes in zip(grids, self.grids, self._axes, strict=True)
        )

    def excesses(self, box: AxisBox) -> list[float]:
        """Return this for each grid; every one must know the axes of `box`."""
        shares = {}
        for name, positions in box.items():
            many = len(positions)
            shares[name] = [float(wide) / many for wide in self._side(name).widths(positions)]
        found = []
        for place, grid in enumerate(self.grids):
            share = 1.0
            for name in grid.names:
                if name in shares:
                    share *= shares[name][place]
            found.append(share)
        return found

    def _side(self, name: str) -> _Side:
        if name not in self._sides:
            self._sides[name] = _Side.of([g.axes[g.names.index(name)] for g in self.grids])
        return self._sides[name]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The same axis of several grids, cut wherever one of them is.

    Row i of `atoms` has the atom of grid i for each segment; the atoms of all grids are numbered on,
    those of grid i from `offsets[i]`.
    """

    whole: Axis
    atoms: Integers
    offsets: Integers
    wide: Integers

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> _Side:
        """Return these axes side by side."""
        starts = np.unique(np.concatenate([axis.starts for axis in axes]))
        counts = np.array([axis.count for axis in axes])
        offsets = np.cumsum(counts) - counts
        atoms = np.stack([axis.atoms_at(starts) for axis in axes]) + offsets[:, None]
        wide = np.concatenate([axis.widths for axis in axes])
        return cls(Axis(starts, np.arange(len(starts)), len(starts)), atoms, offsets, wide)

    def widths(self, positions: Positions) -> list[int]:
        """Return the width of `positions` on each axis."""
        reached: Bits = np.zeros(len(self.wide), dtype=np.bool_)
        reached[self.atoms[:, self.whole.touched(positions)]] = True
        sums: list[int] = np.add.reduceat(self.wide * reached, self.offsets).tolist()
        return sums
