"""PrivBayes, a Bayesian network: each column given a few earlier ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from discreet.base.display import Progress, silent
from discreet.errors import InvalidInput
from discreet.measure.one_way_marginals import (
    FamilyScores,
    Singles,
    by_root,
    measure_singles,
    merged_sizes,
    rare_groups,
)
from discreet.measure.private_marginals import PrivateMarginals
from discreet.measure.shape import Columns, Merges, Shape
from discreet.work.synth.methods.tree import MOST_CELLS
from discreet.work.synth.models.conditional_chain import ModelLink, Network, infer

SINGLES = Fraction(2, 5)
CHOICES = Fraction(1, 10)
TABLES = Fraction(1, 2)
THETA = 1
MOST_PARENTS = 3


@dataclass(frozen=True, slots=True)
class CandidateFamilies:
    """Which families are candidates: a function of public sizes and noisy counts."""

    shape: Shape
    sizes: tuple[int, ...]
    parents: int
    cells: float

    def fits(self, family: Columns) -> bool:
        """Return whether a table is worth measuring, and small enough to be held."""
        return (
            prod(self.sizes[column] for column in family) <= self.cells
            and self.shape.cells(family) <= MOST_CELLS
        )


def fit(
    marginals: PrivateMarginals,
    *,
    parents: int | None = None,
    theta: int | float = THETA,
    progress: Progress = silent,
) -> Network:
    """Return a model in which each column depends on up to `parents` others [PrivBayes 2017].

    Half of the budget finds the structure (of it 4/5 for the one-way marginals that scores, rare
    codes and margins stand on, 1/5 for the choices by the exponential mechanism), half measures the
    tables. A table is useful when its average count is at least `theta` times its noise; others are
    no candidates, and by default the number of parents is the greatest for which a table of columns
    of middling size is useful. Both follow from public sizes and the noisy counts. The paper's theta
    of 4 is for tables that are used as they are; here noise is shrunk out of them first, and 1 is
    better on ADULT and on the census excerpts alike.

    Parents always stand together in an earlier family. That leaves out some networks of the paper
    and keeps the model one whose marginals and conditions are exact.

    Guarantee: shares of 2/5, 1/10 and 1/2; scores move by at most 1 for a row (one_way_marginals.py).
    """
    if (parents is not None and not 1 <= parents <= MOST_PARENTS) or not theta > 0:
        raise InvalidInput(
            f"The correlated method takes 1 to {MOST_PARENTS} parents and a theta above 0.",
            hint="Leave them out to have them follow from the sizes of the table.",
        )
    progress(0, marginals.shape.width + 1, "counting columns")
    # A single column has no pairs: then all goes to its counts.
    singles = measure_singles(
        marginals, share=SINGLES if marginals.shape.width > 1 else Fraction(1)
    )
    merges = rare_groups(singles)
    sizes = merged_sizes(marginals.shape, merges)
    most = _most_cells(marginals, singles, theta)
    limit = _default_parents(sizes, most) if parents is None else parents
    families = _grow(
        marginals, singles, merges, CandidateFamilies(marginals.shape, sizes, limit, most), progress
    )
    shares = by_root(
        TABLES, [prod(sizes[column] for column in family) for family in families if family[:-1]]
    )
    links = []
    for family in families:
        wanted = tuple(sorted(family))
        measured = None
        if family[:-1]:
            (measured,) = marginals.measure([wanted], share=shares.pop(0), merged=merges)
        links.append(ModelLink(family[-1], family[:-1], measured))
    network = infer(marginals.shape, singles, merges, links)
    progress(marginals.shape.width + 1, marginals.shape.width + 1, "done")
    return network


def _most_cells(marginals: PrivateMarginals, singles: Singles, theta: float) -> float:
    """Return the most cells of a table whose average count is theta times its noise."""
    law = marginals.law(TABLES / marginals.shape.width)
    return singles.total / (theta * math.sqrt(law.variance))


def _default_parents(sizes: Sequence[int], most: float) -> int:
    """Return the greatest number of parents for which middling columns make a useful table."""
    middling = math.exp(sum(math.log(size) for size in sizes) / len(sizes))
    found = [count for count in range(1, MOST_PARENTS + 1) if middling ** (count + 1) <= most]
    return max(found, default=1)


def _grow(
    marginals: PrivateMarginals,
    singles: Singles,
    merges: Merges,
    room: CandidateFamilies,
    progress: Progress,
) -> list[Columns]:
    """Return the families, parents first and the column last, in the order they were chosen."""
    width = marginals.shape.width
    if width == 1:
        return [(0,)]
    scores = FamilyScores(singles, merges)
    # The first choice is among pairs, in both directions: its parent starts the network.
    families: list[Columns] = []
    for step in range(1, width):
        candidates = list(_candidates(families, room))
        if not candidates:
            break
        chosen = marginals.choose(
            lambda counter, among=candidates: scores.of(counter, among),  # type: ignore[misc]  # a default binds the loop's value
            sensitivity=1,
            share=CHOICES / (width - 1),
        )
        family = candidates[chosen]
        if not families:
            families.append(family[:-1])
        families.append(family)
        progress(step, width + 1, "choosing parents")
    there = {family[-1] for family in families}
    return [*families, *((column,) for column in range(width) if column not in there)]


def _candidates(families: Sequence[Columns], room: CandidateFamilies) -> Iterator[Columns]:
    """Yield what may come next: a new column with parents that stand together in a family."""
    width = room.shape.width
    if not families:
        starts = [(first, second) for first in range(width) for second in range(width)]
        yield from (pair for pair in starts if pair[0] != pair[1] and room.fits(pair))
        return
    there = {family[-1] for family in families}
    seen: set[Columns] = set()
    for family in families:
        for count in range(1, room.parents + 1):
            seen.update(combinations(sorted(family), count))
    for parents in sorted(seen):
        for column in range(width):
            if column not in there and room.fits((*parents, column)):
                yield (*parents, column)
