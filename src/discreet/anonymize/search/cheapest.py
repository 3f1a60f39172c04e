"""The cheapest allowed node of the lattice: exact within its time, else the best with a bound."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.anonymize.search.evaluate import Evaluator, NodeResult
from discreet.anonymize.search.lattice import MOST_NODES, Lattice, thinned
from discreet.core.progress import Progress, silent
from discreet.errors import InvalidInput

_RUNNERS = 6


@dataclass(frozen=True, slots=True)
class CheapestNode:
    """The chosen node. No allowed node costs less than `bound`, which is `cost` if `optimal`."""

    levels: tuple[int, ...]
    cost: float
    bound: float
    optimal: bool
    evaluated: int
    nodes: int
    runners: tuple[NodeResult, ...]
    """The best allowed nodes, for those who ask why another was not chosen."""


class _Best:
    """The best looks so far; ties go to the smaller discernibility, then to lower levels."""

    def __init__(self) -> None:
        self.looks: list[NodeResult] = []

    @property
    def cost(self) -> float:
        return self.looks[0].cost if self.looks else math.inf

    @property
    def look(self) -> NodeResult | None:
        return self.looks[0] if self.looks else None

    def add(self, look: NodeResult) -> None:
        if look.allowed and look not in self.looks:
            merged = [*self.looks, look]
            self.looks = heapq.nsmallest(_RUNNERS, merged, key=_rank)


def _rank(look: NodeResult) -> tuple[float, float, tuple[int, ...]]:
    # Costs that differ only by rounding are ties; nine digits are more than any report shows.
    return (float(f"{look.cost:.9e}"), look.tie, look.levels)


def search(
    evaluator: Evaluator,
    heights: Sequence[int],
    *,
    seconds: float,
    progress: Progress = silent,
    most: int = MOST_NODES,
) -> CheapestNode:
    """Return the cheapest allowed node; `heights[j]` is the number of levels of column j.

    Guarantee: if `optimal`, no allowed node of the whole lattice costs less. Every node was looked
    at, or a coarser one was hopeless, or a finer one had a bound above the cost that was found
    (docs/notes/0025-anonymize.md). Otherwise `bound` still holds for all of them.
    """
    end = time.monotonic() + seconds
    choices = thinned(heights, most)
    complete = all(len(some) == height for some, height in zip(choices, heights, strict=True))
    lattice, best = Lattice(choices), _Best()
    bottom = evaluator.evaluate((0,) * len(heights))
    looked = {bottom.levels}
    best.add(bottom)
    if all(some[0] == 0 for some in choices):
        _prune(lattice, bottom)
    highest = tuple(height - 1 for height in heights)
    top = bottom if highest in looked else evaluator.evaluate(highest)
    looked.add(top.levels)
    best.add(top)
    _prune(lattice, top)
    in_time = _sweep(evaluator, lattice, best, looked, end=end, progress=progress)
    if best.look is None:
        raise _nothing_allowed((in_time and complete) or top.hopeless)
    if not complete:
        _descend(evaluator, best, looked, end)
    optimal = in_time and complete
    low = lattice.least_open(best.cost) if complete else min(best.cost, bottom.bound)
    return CheapestNode(
        levels=best.look.levels,
        cost=best.cost,
        bound=best.cost if optimal else low,
        optimal=optimal,
        evaluated=len(looked),
        nodes=math.prod(heights),
        runners=tuple(best.looks),
    )


def _sweep(
    evaluator: Evaluator,
    lattice: Lattice,
    best: _Best,
    looked: set[tuple[int, ...]],
    *,
    end: float,
    progress: Progress,
) -> bool:
    """Look at every node that is still open; return whether time was enough."""
    count = lattice.nodes
    for done, node in enumerate(lattice.order()):
        if not lattice.is_open(node, best.cost):
            continue
        if time.monotonic() > end:
            return False
        look = evaluator.evaluate(lattice.levels(node))
        looked.add(look.levels)
        best.add(look)
        _prune(lattice, look)
        progress(done, count, "nodes of the lattice")
    progress(count, count, "nodes of the lattice")
    return True


def _prune(lattice: Lattice, look: NodeResult) -> None:
    lattice.bound_coarser(look.levels, look.bound)
    if look.hopeless:
        lattice.prune_finer(look.levels)
    else:
        lattice.mark_evaluated(look.levels)


def _descend(evaluator: Evaluator, best: _Best, looked: set[tuple[int, ...]], end: float) -> None:
    """Walk down from the best node, one level of one column at a time, while that is better."""
    while best.look is not None and time.monotonic() <= end:
        start = best.look
        for place, level in enumerate(start.levels):
            finer = (*start.levels[:place], level - 1, *start.levels[place + 1 :])
            if level and finer not in looked:
                looked.add(finer)
                best.add(evaluator.evaluate(finer))
        if best.look == start:
            return


def _nothing_allowed(sure: bool) -> InvalidInput:
    if not sure:
        return InvalidInput(
            "No allowed generalisation was found in the time given.", hint="Give more seconds."
        )
    return InvalidInput(
        "No generalisation in these hierarchies is allowed, not even the coarsest.",
        hint="Let hierarchies end in '*', ask for less (a smaller k, l or larger t), or let more "
        "rows be suppressed.",
    )
