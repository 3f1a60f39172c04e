"""In which order columns are drawn when others are given, and what tables that needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import prod

from discreet.synth.encoding.shape import Columns


def drawing_cells(sizes: Sequence[int], sets: Iterable[Columns], given: Columns) -> int:
    """Return the cells of the tables that drawing all other columns, given these, would need."""
    return sum(prod(sizes[c] for c in family) for family in drawing_order(sizes, sets, given))


def drawing_order(sizes: Sequence[int], sets: Iterable[Columns], given: Columns) -> list[Columns]:
    """Return families, each a column that is drawn (last) and what it is drawn by; the first first.

    Columns that are not given are eliminated, cheapest table first; drawing goes the other way.
    """
    near: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for columns in sets:
        for one, two in combinations(columns, 2):
            near[one].add(two)
            near[two].add(one)
    open_ones = [column for column in near if column not in given]
    found: list[Columns] = []
    while open_ones:
        column = min(
            open_ones, key=lambda c: (sizes[c] * prod(sizes[other] for other in near[c]), c)
        )
        open_ones.remove(column)
        around = near.pop(column)
        found.append((*sorted(around), column))
        for other in around:
            near[other] |= around
            near[other] -= {other, column}
    return found[::-1]
