"""One axis cut into atoms: positions that no charge so far can tell apart."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.core.region import NULL, Positions

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
