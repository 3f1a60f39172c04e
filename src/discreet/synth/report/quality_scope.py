"""Which marginals a comparison looks at: a function of public sizes alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from discreet.synth.encoding.shape import Columns, Shape

PAIRS = 300
"""Up to so many pairs all are compared; of wider tables as many are drawn."""
TRIPLES = 64
CELLS = 50_000
"""Tables with more cells than rows, or than this, say little: they are left out."""
ALL_CELLS = 5_000_000
"""Cells of all compared pairs together: what is held in memory stays below a few hundred MB."""
_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class ComparisonScope:
    """The one-, two- and three-way marginals that are compared."""

    ones: tuple[Columns, ...]
    pairs: tuple[Columns, ...]
    triples: tuple[Columns, ...]

    @classmethod
    def of(cls, shape: Shape, rows: int) -> ComparisonScope:
        """Return all columns, pairs and a draw of triples whose tables are not too large.

        The triples follow the rule of the RAP paper: drawn at random, with fewer cells than rows.

        >>> ComparisonScope.of(Shape(("a", "b", "c"), (2, 3, 4)), 100).triples
        ((0, 1, 2),)
        """
        limit = max(min(rows, CELLS), 1)
        ones = tuple((i,) for i in range(shape.width))
        pairs = tuple(combinations(range(shape.width), 2))
        pairs = tuple(pair for pair in pairs if shape.cells(pair) <= CELLS)
        if len(pairs) > PAIRS:
            picked = sorted(_dice().choice(len(pairs), PAIRS, replace=False))
            pairs = tuple(pairs[i] for i in picked)
        total, kept = 0, []
        for pair in pairs:
            total += shape.cells(pair)
            if total <= ALL_CELLS:
                kept.append(pair)
        return cls(ones, tuple(kept), _triples(shape, limit))


def _triples(shape: Shape, limit: int) -> tuple[Columns, ...]:
    if comb(shape.width, 3) <= TRIPLES:
        every = combinations(range(shape.width), 3)
        return tuple(three for three in every if shape.cells(three) <= limit)
    dice, found = _dice(), dict[Columns, None]()
    for _ in range(_DRAWS):
        three = tuple(sorted(int(i) for i in dice.choice(shape.width, 3, replace=False)))
        if shape.cells(three) <= limit:
            found[three] = None
        if len(found) == TRIPLES:
            break
    return tuple(sorted(found))


def _dice() -> np.random.Generator:  # no guarantee hangs on these dice: the same for all data
    return np.random.default_rng(0)  # no guarantee hangs on these dice: the same for all data
