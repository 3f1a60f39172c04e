"""The generalisation lattice and its pruning: nodes ruled out, lower bounds on cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

MOST_NODES = 1_000_000
"""A larger lattice is thinned: only some levels of each column are searched."""

_TIE = 1e-12


class Lattice:
    """All nodes over `choices[j]`, the levels of column j that are searched, finest first.

    A node is open until it was looked at, ruled out by a coarser one, or costs too much by the
    bound of a finer one.
    """

    def __init__(self, choices: Sequence[Sequence[int]]) -> None:
        self.choices = tuple(tuple(levels) for levels in choices)
        shape = tuple(len(levels) for levels in self.choices)
        self._shape = shape
        self._closed = np.zeros(shape, dtype=bool)
        self._bounds = np.full(shape, -math.inf)
        self._flat_closed = self._closed.reshape(-1)
        self._flat_bounds = self._bounds.reshape(-1)

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self._closed.size)

    def order(self) -> Iterator[int]:
        """Yield all nodes, scattered, each once.

        Neighbours of a node that is ruled out are ruled out with it, so the next question should be
        asked elsewhere. Steps of the golden ratio scatter without dice.
        """
        count = self.nodes
        step = max(1, round(count * 0.6180339887498949))
        while math.gcd(step, count) != 1:
            step += 1
        place = 0
        for _ in range(count):
            yield place
            place = (place + step) % count

    def levels(self, node: int) -> tuple[int, ...]:
        """Return the levels of a node."""
        places = np.unravel_index(node, self._shape)
        return tuple(levels[int(place)] for levels, place in zip(self.choices, places, strict=True))

    def is_open(self, node: int, best: float) -> bool:
        """Return whether a node may still be as good as the best one known."""
        return not self._flat_closed[node] and self._flat_bounds[node] <= best + abs(best) * _TIE

    def mark_evaluated(self, levels: Sequence[int]) -> None:
        """Remember that a node was looked at."""
        self._closed[self._places(levels)] = True

    def prune_finer(self, levels: Sequence[int]) -> None:
        """Rule out a node and every finer one."""
        self._closed[tuple(slice(0, place + 1) for place in self._places(levels))] = True

    def bound_coarser(self, levels: Sequence[int], bound: float) -> None:
        """Remember that neither a node nor any coarser one costs less than `bound`."""
        part = self._bounds[tuple(slice(place, None) for place in self._places(levels))]
        np.maximum(part, bound, out=part)

    def least_open(self, best: float) -> float:
        """Return what the open nodes cost at least, or `best` if that is less."""
        some = self._bounds[~self._closed]
        return min(best, float(some.min(initial=best)))

    def _places(self, levels: Sequence[int]) -> tuple[int, ...]:
        return tuple(known.index(level) for known, level in zip(self.choices, levels, strict=True))


def thinned(heights: Sequence[int], most: int = MOST_NODES) -> list[list[int]]:
    """Return for each column the levels to search, so that there are at most `most` nodes.

    The lowest and the highest level of a column stay longest. The column with the most levels
    loses one first; where even two each are too many, columns keep only their highest.
    """
    chosen = [list(range(height)) for height in heights]
    while math.prod(len(levels) for levels in chosen) > most:
        longest = max(chosen, key=len)
        longest.pop(len(longest) // 2 if len(longest) > 2 else 0)
    return chosen
