"""Axes cut into atoms, nested blocks of atoms, and grids with the bill of every cell of a few axes.

An atom is a run of positions that no charge so far can tell apart. A grid has one dense plane of integers for each
component of a bill; blocks pool atoms under the branches of a search.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.base.event import NULL, Positions
from discreet.errors import InternalError

FARTHEST = 2**62
"""Positions from here on count as one point; joining points only makes a bill larger."""


@dataclass(frozen=True, eq=False)  # without slots: what follows from an axis is remembered
class Axis:
    """A partition of the positions -1, 0, 1, ... into numbered atoms.

    Segment i reaches from `starts[i]` to just before `starts[i + 1]` (the last has no end) and
    belongs to atom `atom_of[i]`. An atom may own several segments: all that is never mentioned is
    one atom, wherever it lies. No size is needed: positions beyond the declared end lie in the last
    segment and are held by no restricted charge, so they never pay more than a real position does.
    """

    starts: Integers
    atom_of: Integers
    count: int

    @functools.cached_property
    def _segments(self) -> Integers:
        """How many segments each atom owns."""
        return np.bincount(self.atom_of, minlength=self.count)

    @functools.cached_property
    def widths(self) -> Integers:
        """How many positions each atom has, without those after the last cut."""
        found = np.zeros(self.count, dtype=np.int64)
        np.add.at(found, self.atom_of[:-1], np.diff(self.starts))
        return found

    def inside(self, positions: Positions) -> Bits:
        """Return which segments begin inside `positions`; exact where the axis was refined by it."""
        lows, highs = bounds(positions)
        at = lows.searchsorted(self.starts, side="right") - 1
        return (at >= 0) & (self.starts <= highs[np.maximum(at, 0)])

    def touched(self, positions: Positions) -> Integers:
        """Return the atoms that share at least one position with `positions`, ascending."""
        return self._reached(positions).nonzero()[0]

    def _reached(self, positions: Positions) -> Bits:
        lows, highs = bounds(positions)
        first = self.starts.searchsorted(lows, side="right") - 1
        end = self.starts.searchsorted(highs, side="right")
        reached = np.zeros(self.count, dtype=np.bool_)
        reached[self._atoms_within(first, end)] = True
        return reached

    def _split(self, positions: Positions) -> Bits:
        """Return which atoms have positions both in and out of `positions`."""
        lows, highs = bounds(positions)
        first = self.starts.searchsorted(lows, side="left")
        end = np.maximum(self.starts.searchsorted(highs + 1, side="right") - 1, first)
        whole = np.bincount(self._atoms_within(first, end), minlength=self.count)
        split: Bits = self._reached(positions) & (whole < self._segments)
        return split

    def _atoms_within(self, first: Integers, end: Integers) -> Integers:
        """Return the atom of each segment from one of `first` to just before its `end`."""
        if len(first) == 1:
            return self.atom_of[first[0] : end[0]]
        longer = len(self.starts) + 1
        marks = np.bincount(first, minlength=longer) - np.bincount(end, minlength=longer)
        return self.atom_of[marks.cumsum()[:-1] > 0]

    def count_with(self, positions: Positions) -> int:
        """Return how many atoms there would be after `refined`."""
        return self.count + int(np.count_nonzero(self._split(positions)))

    def refined(self, positions: Positions) -> tuple[Axis, Integers | None]:
        """Return the axis whose atoms lie in or out of `positions`, and each atom's origin.

        The origin is None where no atom had to be split.
        """
        split = self._split(positions)
        if not split.any():
            return self, None
        cut = self._cut(positions)
        inside = cut.inside(positions)
        # The half that begins first keeps the lower number, so ranges stay runs of atoms.
        first_in = np.full(cut.count, len(inside), dtype=np.int64)
        first_out = first_in.copy()
        order = np.arange(len(inside))
        np.minimum.at(first_in, cut.atom_of[inside], order[inside])
        np.minimum.at(first_out, cut.atom_of[~inside], order[~inside])
        renamed = np.arange(cut.count) + np.cumsum(split) - split
        second = split[cut.atom_of] & (inside == (first_out < first_in)[cut.atom_of])
        origin = np.repeat(np.arange(cut.count), 1 + split)
        return Axis(cut.starts, renamed[cut.atom_of] + second, len(origin)), origin

    def _cut(self, positions: Positions) -> Axis:
        edges = _edges(positions)
        at = self.starts.searchsorted(edges)
        known = self.starts[np.minimum(at, len(self.starts) - 1)] == edges
        if known.all():
            return self
        at, edges = at[~known], edges[~known]
        places = at + np.arange(len(at))
        old = np.ones(len(self.starts) + len(at), dtype=np.bool_)
        old[places] = False
        origin = old.cumsum() - 1
        starts = self.starts[origin]
        starts[places] = edges
        return Axis(starts, self.atom_of[origin], self.count)

    def atoms_at(self, positions: Integers) -> Integers:
        """Return the atom of each position."""
        return self.atom_of[np.searchsorted(self.starts, positions, side="right") - 1]

    def positions(self, atom: int) -> Positions:
        """Return the positions of `atom`; an endless segment ends at the farthest position."""
        mine = np.flatnonzero(self.atom_of == atom)
        ends = np.append(self.starts[1:] - 1, FARTHEST)
        return Positions.of((int(self.starts[i]), int(ends[i])) for i in mine)


np.unique(
    np.array([0])
)  # numpy imports parts of itself at first use, which a fork must not interrupt

UNCUT = Axis(np.array([NULL], dtype=np.int64), np.zeros(1, dtype=np.int64), 1)
"""An axis that nobody has mentioned yet."""


def common(axes: Sequence[Axis]) -> Axis:
    """Return the coarsest axis that refines all of `axes`."""
    if len(axes) == 1:
        return axes[0]
    starts = np.unique(np.concatenate([axis.starts for axis in axes]))
    label = np.zeros(len(starts), dtype=np.int64)
    for axis in axes:
        _, label = np.unique(label * axis.count + axis.atoms_at(starts), return_inverse=True)
    # Number the atoms in the order in which they begin.
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return Axis(starts, rank[label], len(first))


def runs(atoms: Integers) -> list[slice]:
    """Return ascending atom numbers as maximal slices."""
    if int(atoms[-1]) - int(atoms[0]) == len(atoms) - 1:
        return [slice(int(atoms[0]), int(atoms[-1]) + 1)]
    breaks = np.flatnonzero(np.diff(atoms) != 1) + 1
    firsts = atoms[np.concatenate(([0], breaks))]
    lasts = atoms[np.concatenate((breaks - 1, [len(atoms) - 1]))]
    return [slice(int(low), int(high) + 1) for low, high in zip(firsts, lasts, strict=True)]


@functools.lru_cache(maxsize=1024)
def bounds(positions: Positions) -> tuple[Integers, Integers]:
    """Return the first and the last position of each span, as far as positions are told apart."""
    spans = np.array(
        [(min(low, FARTHEST), min(high, FARTHEST)) for low, high in positions.spans],
        dtype=np.int64,
    )
    np.maximum(spans, NULL, out=spans)
    spans.flags.writeable = False  # shared by all who ask
    return spans[:, 0], spans[:, 1]


@functools.lru_cache(maxsize=1024)
def _edges(positions: Positions) -> Integers:
    """Return where spans begin and where what follows them does, ascending."""
    lows, highs = bounds(positions)
    found = np.unique(np.concatenate((lows, highs + 1)))
    found.flags.writeable = False
    return found


BRANCHING = 32  # children of a node; small axes go from "anywhere" to single atoms in one step


@dataclass(frozen=True, slots=True, eq=False)
class BlockTree:
    """An axis as nested blocks of atoms: level 0 is all of it, the last level single atoms."""

    axis: Axis
    edges: tuple[Integers, ...] = field(init=False)

    def __post_init__(self) -> None:
        depth = max(1, math.ceil(math.log(max(2, self.axis.count), BRANCHING)))
        edges = [np.array([0, self.axis.count])]
        for level in range(1, depth + 1):
            blocks = math.ceil(self.axis.count ** (level / depth))
            if level == depth:
                blocks = self.axis.count
            inner = np.linspace(0, self.axis.count, blocks + 1).round().astype(np.int64)
            edges.append(np.union1d(edges[-1], inner))  # nested: blocks never straddle parents
        object.__setattr__(self, "edges", tuple(edges))

    @property
    def depth(self) -> int:
        """Return the number of the last level."""
        return len(self.edges) - 1

    def children(self, level: int, blocks: Integers) -> tuple[Integers, Integers]:
        """Return the blocks one level below `blocks`, and for each the place of its parent."""
        finer = np.searchsorted(self.edges[level + 1], self.edges[level])
        first, number = finer[blocks], finer[blocks + 1] - finer[blocks]
        parent = np.repeat(np.arange(len(blocks)), number)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(number) - number, number)
        return first[parent] + offset, parent

    def ancestors(self, level: int, above: int) -> Integers:
        """Return, for each block of `level`, the block of the level `above` that holds it."""
        return np.searchsorted(self.edges[above], self.edges[level][:-1], side="right") - 1

    def reached(self, level: int, atoms: Integers) -> Bits:
        """Return which blocks of `level` contain one of `atoms`."""
        found = np.zeros(len(self.edges[level]) - 1, dtype=np.bool_)
        found[np.searchsorted(self.edges[level], atoms, side="right") - 1] = True
        return found


@dataclass(frozen=True, slots=True, eq=False)
class AtomPool:
    """For one level of a tree: where a pooled plane keeps each block, and what is pooled there.

    Place i covers the grid's atoms members[offsets[i] : offsets[i + 1]]. Member j stands for the
    leaves order[begins[j] : begins[j + 1]] of the tree: those of its block that touch its atom.
    """

    place: Integers
    members: Integers
    offsets: Integers
    order: Integers
    begins: Integers

    def shrink(self, plane: Integers, dimension: int, shift: Integers | None) -> Integers:
        """Return the greatest entry of each place along `dimension`, after adding `shift`."""
        whole = len(self.offsets) == 1  # then the members are simply all atoms, in order
        taken = plane if whole else plane.take(self.members, axis=dimension)
        if shift is not None:
            added = np.maximum.reduceat(shift[self.order], self.begins)
            taken = taken + added.reshape([-1 if d == dimension else 1 for d in range(plane.ndim)])
        if whole:
            highest: Integers = taken.max(axis=dimension, keepdims=True)
            return highest
        if len(self.members) == len(self.offsets):
            return taken
        return np.maximum.reduceat(taken, self.offsets, axis=dimension)


def pools(tree: BlockTree, mine: Axis) -> tuple[AtomPool, ...]:
    """Return one pool for each level of `tree`, over the atoms of `mine`.

    Guarantee: the place of a block covers every atom of `mine` that shares a position with it.
    """
    starts = np.union1d(tree.axis.starts, mine.starts)
    pairs = np.unique(tree.axis.atoms_at(starts) * mine.count + mine.atoms_at(starts))
    leaf, atom = pairs // mine.count, pairs % mine.count
    found: list[AtomPool] = []
    for edges in tree.edges[:-1]:
        block = np.searchsorted(edges, leaf, side="right") - 1
        found.append(_blocks(block, atom, leaf, mine.count))
    return (*found, _leaves(leaf, atom, tree.axis.count))


def _blocks(block: Integers, atom: Integers, leaf: Integers, atoms: int) -> AtomPool:
    keys = block * atoms + atom
    order = np.argsort(keys, kind="stable")
    members, begins = np.unique(keys[order], return_index=True)
    _, offsets = np.unique(members // atoms, return_index=True)
    return AtomPool(np.arange(len(offsets)), members % atoms, offsets, leaf[order], begins)


def _leaves(leaf: Integers, atom: Integers, leaves: int) -> AtomPool:
    size = np.bincount(leaf, minlength=leaves)
    begin = np.cumsum(size) - size
    alone = size == 1
    # Leaves within a single atom share that atom's place; each other leaf has its own.
    single, place_of_alone = np.unique(atom[begin[alone]], return_inverse=True)
    place = np.empty(leaves, dtype=np.int64)
    place[alone] = place_of_alone
    place[~alone] = len(single) + np.arange(int((~alone).sum()))
    members = np.concatenate((single, atom[~alone[leaf]]))
    widths = np.concatenate((np.ones(len(single), dtype=np.int64), size[~alone]))
    nothing = np.zeros(0, dtype=np.int64)
    return AtomPool(place, members, np.cumsum(widths) - widths, nothing, nothing)


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
