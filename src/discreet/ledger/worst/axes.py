"""One axis cut into atoms: positions that no charge so far can tell apart."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.region import NULL, Positions

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

FARTHEST = 2**62
"""Positions from here on count as one point; joining points only makes a bill larger."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A partition of the positions -1, 0, 1, ... into numbered atoms.

    Segment i reaches from `starts[i]` to just before `starts[i + 1]` (the last has no end) and
    belongs to atom `atom_of[i]`. An atom may own several segments: all that is never mentioned is
    one atom, wherever it lies. No size is needed: positions beyond the declared end lie in the last
    segment and are held by no restricted charge, so they never pay more than a real position does.
    """

    starts: Ints
    atom_of: Ints
    count: int

    def inside(self, positions: Positions) -> Flags:
        """Return which segments begin inside `positions`; exact where the axis was refined by it."""
        lows, highs = bounds(positions)
        at = np.searchsorted(lows, self.starts, side="right") - 1
        return (at >= 0) & (self.starts <= highs[np.maximum(at, 0)])

    def touched(self, positions: Positions) -> Ints:
        """Return the atoms that share at least one position with `positions`, ascending."""
        lows, highs = bounds(positions)
        first = np.searchsorted(self.starts, lows, side="right") - 1
        last = np.searchsorted(self.starts, highs, side="right") - 1
        if len(lows) == 1:
            return np.unique(self.atom_of[first[0] : last[0] + 1])
        marks = np.zeros(len(self.starts) + 1, dtype=np.int64)
        np.add.at(marks, first, 1)
        np.add.at(marks, last + 1, -1)
        return np.unique(self.atom_of[np.cumsum(marks[:-1]) > 0])

    def refined(self, positions: Positions) -> tuple[Axis, Ints | None]:
        """Return the axis whose atoms lie in or out of `positions`, and each atom's origin.

        The origin is None where no atom had to be split.
        """
        cut = self._cut(positions)
        inside = cut.inside(positions)
        held = np.bincount(cut.atom_of[inside], minlength=cut.count)
        split = (held > 0) & (held < np.bincount(cut.atom_of, minlength=cut.count))
        if not split.any():
            return self, None
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
        lows, highs = bounds(positions)
        edges = np.union1d(lows, highs + 1)
        at = np.searchsorted(self.starts, edges)
        known = at < len(self.starts)
        known[known] = self.starts[at[known]] == edges[known]
        fresh = ~known & (edges > NULL)
        if not fresh.any():
            return self
        at = at[fresh]
        starts = np.insert(self.starts, at, edges[fresh])
        return Axis(starts, np.insert(self.atom_of, at, self.atom_of[at - 1]), self.count)

    def atoms_at(self, positions: Ints) -> Ints:
        """Return the atom of each position."""
        return self.atom_of[np.searchsorted(self.starts, positions, side="right") - 1]

    def width(self, atoms: Ints) -> float:
        """Return how many positions `atoms` have, without those after the last cut."""
        wanted = np.zeros(self.count, dtype=np.bool_)
        wanted[atoms] = True
        return float(np.diff(self.starts)[wanted[self.atom_of[:-1]]].sum())

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


def runs(atoms: Ints) -> list[slice]:
    """Return ascending atom numbers as maximal slices."""
    breaks = np.flatnonzero(np.diff(atoms) != 1) + 1
    firsts = atoms[np.concatenate(([0], breaks))]
    lasts = atoms[np.concatenate((breaks - 1, [len(atoms) - 1]))]
    return [slice(int(low), int(high) + 1) for low, high in zip(firsts, lasts, strict=True)]


@functools.lru_cache(maxsize=1024)
def bounds(positions: Positions) -> tuple[Ints, Ints]:
    """Return the first and the last position of each span, as far as positions are told apart."""
    spans = np.array(
        [(min(low, FARTHEST), min(high, FARTHEST)) for low, high in positions.spans],
        dtype=np.int64,
    )
    np.maximum(spans, NULL, out=spans)
    spans.flags.writeable = False  # shared by all who ask
    return spans[:, 0], spans[:, 1]
