"""Bills of all cells of a few axes, one dense plane of integers for each component."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.region import Positions
from discreet.errors import InternalError
from discreet.ledger.worst.axes import UNCUT, Axis, common, runs

AxisBox: TypeAlias = Mapping[str, Positions]
"""The restricted axes of a region."""

Signed: TypeAlias = tuple[tuple[int, AxisBox], ...]
"""Boxes with signs: a charge bills every cell by the sum of the signs of the boxes that hold it."""

SATURATED = 2**60
"""Bills stop here, so that sums of a few of them never leave 64 bits."""

MAX_SLICES = 64  # beyond this many pieces one gather is faster than many slices


@dataclass(frozen=True, slots=True)
class RefinedGrid:
    """How a grid would look once its axes can tell a charge's boxes apart."""

    axes: tuple[Axis, ...]
    cuts: tuple[tuple[Positions, ...], ...]
    cells: int
    """The number of cells afterwards."""

    def refined(self) -> tuple[tuple[Axis, ...], tuple[Integers | None, ...]]:
        """Return the axes afterwards, and where the atoms of each come from; None: as before."""
        axes, origins = list(self.axes), []
        for i, cuts in enumerate(self.cuts):
            origin: Integers | None = None
            for positions in cuts:
                axes[i], step = axes[i].refined(positions)
                origin = step if origin is None else origin if step is None else origin[step]
            origins.append(origin)
        return tuple(axes), tuple(origins)


class BillGrid:
    """The bills of every combination of atoms of `names`; identical positions share an atom."""

    __slots__ = ("axes", "cells", "mass", "names", "planes")

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.axes: tuple[Axis, ...] = (UNCUT,) * len(self.names)
        self.planes: dict[int, Integers] = {}
        self.mass: dict[int, int] = {}  # all that was ever billed, by component
        self.cells = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of atoms on each axis."""
        return tuple(axis.count for axis in self.axes)

    @property
    def entries(self) -> int:
        """Return how many integers are held."""
        return self.cells * len(self.planes)

    def fit(self, boxes: Signed) -> RefinedGrid:
        """Return the refinement that `boxes` need; changes nothing."""
        cuts = tuple(
            tuple(dict.fromkeys(box[name] for _, box in boxes if name in box))
            for name in self.names
        )
        counts = (_count_with(axis, each) for axis, each in zip(self.axes, cuts, strict=True))
        return RefinedGrid(self.axes, cuts, math.prod(counts))

    def add(self, boxes: Signed, amounts: Sequence[int], fit: RefinedGrid) -> None:
        """Bill `amounts` to the cells of `boxes`, after splitting cells as `fit` says."""
        if fit.cells != self.cells:
            self.axes, origins = fit.refined()
            self.cells = fit.cells
            for dimension, origin in enumerate(origins):
                if origin is not None:
                    for component, plane in self.planes.items():
                        self.planes[component] = plane.take(origin, axis=dimension)
        self.cover(boxes, amounts)

    def cover(self, boxes: Signed, amounts: Sequence[int]) -> None:
        """Bill `amounts` to every cell that `boxes` touch, without splitting any.

        Guarantee: no cell is billed too little as long as all signs are positive or every box is a
            union of atoms.
        """
        paid = [(component, amount) for component, amount in enumerate(amounts) if amount]
        for component, amount in paid:
            if component not in self.planes:
                self.planes[component] = np.zeros(self.shape, dtype=np.int64)
            self.mass[component] = self.mass.get(component, 0) + amount
        for sign, box in boxes:
            pieces = self._pieces(box)
            for component, amount in paid:
                plane = self.planes[component]
                for piece in pieces:
                    plane[piece] += sign * amount
        for component, _ in paid:
            if self.mass[component] > SATURATED:
                np.minimum(self.planes[component], SATURATED, out=self.planes[component])

    def _pieces(self, box: AxisBox) -> list[tuple[slice | Integers, ...]]:
        """Return the touched cells as indices of a plane: slices, or one open mesh if too many."""
        kept = self._all_atoms(box)
        slices = [[slice(None)] if atoms is None else runs(atoms) for atoms in kept]
        if math.prod(len(found) for found in slices) <= MAX_SLICES:
            return list(itertools.product(*slices))
        full = [np.arange(axis.count) for axis in self.axes]
        mesh = np.ix_(*(every if a is None else a for a, every in zip(kept, full, strict=True)))
        return [mesh]

    def highest(self, box: AxisBox, component: int) -> int:
        """Return the greatest bill among the cells that `box` touches."""
        plane = self.planes.get(component)
        if plane is None:
            return 0
        return max(int(plane[piece].max()) for piece in self._pieces(box))

    def locate(self, box: AxisBox, component: int, value: int) -> tuple[int, ...]:
        """Return the atoms of one cell touched by `box` whose bill is `value`."""
        plane = self.planes.get(component)
        if plane is None:
            return tuple(0 if a is None else int(a[0]) for a in self._all_atoms(box))
        kept = [
            np.arange(axis.count) if atoms is None else atoms
            for atoms, axis in zip(self._all_atoms(box), self.axes, strict=True)
        ]
        for first in kept[0] if kept else ():  # one slab at a time keeps the copy small
            slab = plane[np.ix_([first], *kept[1:])]
            at = int(slab.argmax())
            index = np.unravel_index(at, slab.shape)
            if int(slab[index]) == value:
                return (int(first), *(int(a[i]) for a, i in zip(kept[1:], index[1:], strict=True)))
        raise InternalError("A bill was found in a box and then not found again.")

    def _all_atoms(self, box: AxisBox) -> list[Integers | None]:
        return [
            axis.touched(box[name]) if name in box else None
            for name, axis in zip(self.names, self.axes, strict=True)
        ]


def _count_with(axis: Axis, cuts: Sequence[Positions]) -> int:
    for positions in cuts[:-1]:
        axis = axis.refined(positions)[0]
    return axis.count_with(cuts[-1]) if cuts else axis.count


def join(grids: Sequence[BillGrid], names: Sequence[str], *, cap: int) -> BillGrid | None:
    """Return the sum of `grids` over all of `names`, or None if it needs over `cap` entries."""
    joined = BillGrid(names)
    parts = {
        name: [g.axes[g.names.index(name)] for g in grids if name in g.names] for name in names
    }
    components = sorted({component for grid in grids for component in grid.planes})
    cells = 1
    axes: list[Axis] = []
    for name in names:
        axes.append(common(parts[name]) if parts[name] else UNCUT)
        cells *= axes[-1].count
        if cells * max(1, len(components)) > cap:
            return None
    joined.axes, joined.cells = tuple(axes), cells
    for component in components:
        plane = np.zeros(joined.shape, dtype=np.int64)
        for grid in grids:
            if component in grid.planes:
                plane += _spread(grid, component, joined)
                joined.mass[component] = joined.mass.get(component, 0) + grid.mass[component]
                if joined.mass[component] > SATURATED:
                    np.minimum(plane, SATURATED, out=plane)
        joined.planes[component] = plane
    return joined


def _spread(grid: BillGrid, component: int, target: BillGrid) -> Integers:
    """Return the plane of `grid` on the atoms of `target`, with length 1 on axes it lacks."""
    order = [grid.names.index(name) for name in target.names if name in grid.names]
    plane = grid.planes[component].transpose(order)
    shape, dimension = [], 0
    for name, axis in zip(target.names, target.axes, strict=True):
        if name not in grid.names:
            shape.append(1)
            continue
        mine = grid.axes[grid.names.index(name)]
        plane = plane.take(first_atoms(mine, axis), axis=dimension)
        shape.append(axis.count)
        dimension += 1
    return plane.reshape(shape)


def first_atoms(coarse: Axis, fine: Axis) -> Integers:
    """Return, for each atom of `fine`, the atom of `coarse` that holds its first position."""
    _, first = np.unique(fine.atom_of, return_index=True)
    return coarse.atoms_at(fine.starts[first])
