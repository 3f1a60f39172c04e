"""Pairs of columns along a maximum spanning tree: the quickest method that keeps dependence."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from discreet.base.display import Progress, silent
from discreet.measure.one_way_marginals import (
    FamilyScores,
    Singles,
    by_root,
    measure_singles,
    merged_sizes,
    rare_groups,
)
from discreet.measure.private_marginals import Measured, PrivateMarginals
from discreet.measure.shape import Columns, Merges, Shape
from discreet.work.synth.models.conditional_chain import ModelLink, Network, infer

SINGLES = Fraction(2, 5)
CHOICES = Fraction(1, 10)
PAIRS = Fraction(1, 2)

MOST_CELLS = 1 << 20
"""Tables of more cells than this are never looked at: 8 MB each."""


def fit(marginals: PrivateMarginals, *, progress: Progress = silent) -> Network:
    """Return a model in which each column depends on one other, along the strongest pairs.

    Maximum-spanning-tree marginals [McKenna, Miklau and Sheldon 2021], rare codes counted together
    as there, with three differences: the share of each table goes with the root of its size; the
    score of a pair takes one column's law from the noisy counts and the other's from the rows; and
    inference is in closed form, with the noise shrunk out of each table.

    The split: a choice is settled by differences of thousands of rows and needs little (a tenth).
    One-way marginals are part of every later step, and of every pair that is *not* in the tree,
    where nothing else corrects them (two fifths). The rest goes to the pairs. Measured on the
    census excerpts and ADULT alike, three to five tenths for the one-ways differ by less than a
    hundredth of total variation distance.

    Guarantee: shares of 2/5, 1/10 and 1/2; scores move by at most 1 for a row (one_way_marginals.py).
    """
    steps = marginals.shape.width + 1
    progress(0, steps, "counting columns")
    # A single column has no pairs: then all goes to its counts.
    singles = measure_singles(
        marginals, share=SINGLES if marginals.shape.width > 1 else Fraction(1)
    )
    merges = rare_groups(singles)
    progress(1, steps, "choosing pairs of columns")
    edges = choose_tree(
        marginals,
        singles,
        merges,
        share=CHOICES,
        progress=lambda done, _of, what: progress(done, steps, what),
    )
    progress(steps - 1, steps, "counting pairs of columns")
    sizes = merged_sizes(marginals.shape, merges)
    shares = by_root(PAIRS, [sizes[first] * sizes[second] for first, second in edges])
    measured = [
        marginals.measure([edge], share=share, merged=merges)[0]
        for edge, share in zip(edges, shares, strict=True)
    ]
    links = _links(singles, measured)
    network = infer(marginals.shape, singles, merges, links)
    progress(steps, steps, "done")
    return network


def pairs_of(shape: Shape) -> list[Columns]:
    """Return the pairs of columns whose table fits: a function of the public sizes."""
    return [pair for pair in combinations(range(shape.width), 2) if shape.cells(pair) <= MOST_CELLS]


def choose_tree(
    marginals: PrivateMarginals,
    singles: Singles,
    merges: Merges,
    *,
    share: Fraction,
    progress: Progress,
) -> list[Columns]:
    """Return the edges of a spanning tree, or of a forest where tables would be too large.

    Kruskal's way: the strongest pair that still joins two parts, width - 1 times at the most. How
    often depends on which pairs fit, which is public.
    """
    pairs = pairs_of(marginals.shape)
    # The law of the column whose counts are surer; the other's come from the rows.
    families = [tuple(sorted(pair, key=singles.unsure, reverse=True)) for pair in pairs]
    scores = FamilyScores(singles, merges)
    part = list(range(marginals.shape.width))
    most = max(marginals.shape.width - 1, 1)
    edges: list[Columns] = []
    while open_pairs := [family for family in families if part[family[0]] != part[family[1]]]:
        chosen = marginals.choose(
            lambda counter, among=open_pairs: scores.of(counter, among),  # type: ignore[misc]  # a default binds the loop's value
            sensitivity=1,
            share=share / most,
        )
        first, second = sorted(open_pairs[chosen])
        edges.append((first, second))
        part = [part[first] if each == part[second] else each for each in part]
        progress(len(edges), most, "choosing pairs of columns")
    return edges


def _links(singles: Singles, measured: Sequence[Measured]) -> list[ModelLink]:
    """Return the columns from roots to leaves, each with the pair that joins it to its parent."""
    neighbours: dict[int, list[tuple[int, Measured]]] = {
        column: [] for column in range(len(singles.counts))
    }
    for each in measured:
        first, second = each.columns
        neighbours[first].append((second, each))
        neighbours[second].append((first, each))
    links: list[ModelLink] = []
    seen: set[int] = set()
    for root in neighbours:
        if root in seen:
            continue
        waiting: list[tuple[int, Columns, Measured | None]] = [(root, (), None)]
        while waiting:
            column, parents, table = waiting.pop()
            seen.add(column)
            links.append(ModelLink(column, parents, table))
            waiting += [
                (other, (column,), pair) for other, pair in neighbours[column] if other not in seen
            ]
    return links
