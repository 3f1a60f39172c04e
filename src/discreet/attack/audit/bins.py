"""Columns cut into bins: quantiles in the middle, fine ones in the tails, and values that come again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.audit.features import OutputValues
from discreet.core.arrays import Bits, Floats, Integers

MOST_BINS = 256
MOST_WORDS = 4_096
OFTEN = 3
"""A number among many that comes so often, on one input only, has a bin of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """Bins of a column: words by name, numbers by edges, repeated numbers by value."""

    edges: Floats | None
    names: tuple[Any, ...] = ()
    repeated: Floats | None = None

    @classmethod
    def of(cls, first: OutputValues, second: OutputValues) -> Binning:
        """Return bins for the values of two inputs; every second one says which repeated ones matter."""
        values = np.concatenate([first, second])
        if values.dtype == object:
            found, counts = np.unique(values.astype(str), return_counts=True)
            most = found[np.argsort(-counts, kind="stable")[:MOST_WORDS]]
            return cls(None, tuple(most.tolist()))
        numbers = _finite(values)
        distinct, place = np.unique(numbers, return_inverse=True)
        if len(distinct) <= MOST_BINS:
            return cls(distinct[1:])
        edges = _edges(np.sort(numbers))
        sides = (place[: len(first)][::2], place[len(first) :][::2])
        ours, theirs = (np.bincount(side, minlength=len(distinct)) for side in sides)
        alone = np.where((ours == 0) | (theirs == 0), ours + theirs, 0)
        # On a lattice everything comes again: only what comes oftener than its neighbours counts.
        around = np.searchsorted(edges, distinct, side="right")
        usual = np.bincount(around, ours + theirs) / np.maximum(np.bincount(around), 1)
        alone[alone < OFTEN * np.maximum(usual[around], 1)] = 0
        often = np.argsort(-alone, kind="stable")[: MOST_BINS // 4]
        repeated: Floats = np.sort(distinct[often[alone[often] > 0]])
        return cls(edges, repeated=repeated if len(repeated) else None)

    @property
    def size(self) -> int:
        """Return how many bins there are."""
        if self.edges is None:
            return len(self.names) + 1
        return len(self.edges) + 1 + (0 if self.repeated is None else len(self.repeated))

    def places(self, values: OutputValues) -> Integers:
        """Return the bin of each value; a word that was not met before is in the last."""
        if self.edges is None:
            known = {name: i for i, name in enumerate(self.names)}
            return np.array(
                [known.get(str(one), len(self.names)) for one in values], dtype=np.int64
            )
        numbers = _finite(values)
        found = np.searchsorted(self.edges, numbers, side="right").astype(np.int64)
        if self.repeated is not None:
            place = np.minimum(np.searchsorted(self.repeated, numbers), len(self.repeated) - 1)
            same = self.repeated[place] == numbers
            found = np.where(same, len(self.edges) + 1 + place, found)
        return found

    def words(self, chosen: Bits) -> str:
        """Return where the chosen bins lie; empty where none is chosen."""
        places = np.flatnonzero(chosen)
        if not len(places):
            return ""
        if self.edges is None:
            shown = [str(self.names[i]) if i < len(self.names) else "another" for i in places[:5]]
            return "is " + " or ".join(shown) + (" or …" if len(places) > 5 else "")
        plain = places[places <= len(self.edges)]
        runs = np.split(plain, np.flatnonzero(np.diff(plain) > 1) + 1) if len(plain) else []
        shown = [_span(self.edges, int(run[0]), int(run[-1])) for run in runs[:3]]
        if self.repeated is not None:
            exact = self.repeated[places[places > len(self.edges)] - len(self.edges) - 1]
            shown += [f"is exactly {value:.6g}" for value in exact[:3]]
        return " or ".join(shown[:4]) + (" or …" if len(runs) > 3 or len(shown) > 4 else "")


def _finite(values: OutputValues) -> Floats:
    return np.nan_to_num(values.astype(np.float64), nan=np.inf)


def _edges(ordered: Floats) -> Floats:
    """Return quantiles, and beyond them cuts that leave 1, 2, 4, ... values of a tail."""
    middle = np.quantile(ordered, np.linspace(0, 1, MOST_BINS + 1)[1:-1], method="nearest")
    ranks = 2 ** np.arange(int(np.log2(max(len(ordered) // MOST_BINS, 1))) + 1)
    tails = np.concatenate([ordered[ranks], ordered[-ranks]])
    return np.unique(np.concatenate([middle, tails]))


def _span(edges: Floats, low: int, high: int) -> str:
    if low == 0 and high == len(edges):
        return "is anything"
    if low == 0:
        return f"is below {edges[high]:.6g}"
    if high == len(edges):
        return f"is {edges[low - 1]:.6g} or more"
    return f"is from {edges[low - 1]:.6g} to below {edges[high]:.6g}"
