"""Which marginals a synthetic table should answer well: declared, or all small ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from typing import TypeAlias

from discreet.errors import InvalidInput
from discreet.synth.encoding.shape import Columns, Shape

WorkloadSpec: TypeAlias = Sequence[Sequence[str | int]]
"""Lists of columns, by name or by position."""

MOST_CELLS = 50_000
"""Larger marginals are not asked for by default: their cells would be noise."""

MOST_PAIR_CELLS = 1 << 20
"""Pairs may be larger: adaptive counts their columns in groups."""

MOST_MARGINALS = 600
"""Triples are asked for by default when there are at most this many, else pairs."""


def find_workload(shape: Shape, wanted: WorkloadSpec | None) -> list[Columns]:
    """Return the marginals of a workload, ascending; all triples or pairs where none is declared.

    >>> find_workload(Shape(("a", "b", "c"), (2, 2, 2)), [["c", "a"]])
    [(0, 2)]
    """
    if wanted is not None:
        return sorted({_columns(shape, each) for each in wanted})
    width = 3 if comb(shape.width, 3) <= MOST_MARGINALS else 2
    found = [
        columns
        for columns in combinations(range(shape.width), min(width, shape.width))
        if shape.cells(columns) <= MOST_CELLS
    ]
    covered = set(found) | set(closed(found))
    pairs = combinations(range(shape.width), 2)
    return found + [p for p in pairs if p not in covered and shape.cells(p) <= MOST_PAIR_CELLS]


def closed(workload: Iterable[Columns]) -> list[Columns]:
    """Return every set of at least two columns inside some marginal of the workload.

    >>> closed([(0, 1, 2)])
    [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    """
    return sorted(
        {
            part
            for columns in workload
            for width in range(2, len(columns) + 1)
            for part in combinations(columns, width)
        }
    )


def _columns(shape: Shape, wanted: Sequence[str | int]) -> Columns:
    found = set()
    for each in wanted:
        if isinstance(each, int) and 0 <= each < shape.width:
            found.add(each)
        elif each in shape.names:
            found.add(shape.names.index(str(each)))
        else:
            raise InvalidInput(f"The workload names a column '{each}' that is not there.")
    if not 1 <= len(found) <= 5:
        raise InvalidInput("A marginal of the workload has 1 to 5 columns.")
    return tuple(sorted(found))
