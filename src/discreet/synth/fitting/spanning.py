"""A spanning tree of the columns, chosen edge by edge so that it holds strong dependence."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from discreet.synth.encoding.shape import Columns, Merges, Shape
from discreet.synth.measure.dependence import FamilyScores
from discreet.synth.measure.private_marginals import PrivateMarginals
from discreet.synth.measure.singles import Singles
from discreet.synth.progress import Progress

MOST_CELLS = 1 << 20
"""Tables of more cells than this are never looked at: 8 MB each."""


def pairs_of(shape: Shape) -> list[Columns]:
    """Return the pairs of columns whose table fits: a function of the public sizes."""
    return [pair for pair in combinations(range(shape.width), 2) if shape.cells(pair) <= MOST_CELLS]


def choose_tree(
    door: PrivateMarginals, singles: Singles, merges: Merges, *, share: Fraction, progress: Progress
) -> list[Columns]:
    """Return the edges of a spanning tree, or of a forest where tables would be too large.

    Kruskal's way: the strongest pair that still joins two parts, width - 1 times at the most. How
    often depends on which pairs fit, which is public.
    """
    pairs = pairs_of(door.shape)
    # The law of the column whose counts are surer; the other's come from the rows.
    families = [tuple(sorted(pair, key=singles.unsure, reverse=True)) for pair in pairs]
    scores = FamilyScores(singles, merges)
    part = list(range(door.shape.width))
    most = max(door.shape.width - 1, 1)
    edges: list[Columns] = []
    while open_pairs := [family for family in families if part[family[0]] != part[family[1]]]:
        chosen = door.choose(
            lambda counter, among=open_pairs: scores.of(counter, among),  # type: ignore[misc]  # a default binds the loop's value
            sensitivity=1,
            share=share / most,
        )
        first, second = sorted(open_pairs[chosen])
        edges.append((first, second))
        part = [part[first] if each == part[second] else each for each in part]
        progress(len(edges), most, "choosing pairs of columns")
    return edges
