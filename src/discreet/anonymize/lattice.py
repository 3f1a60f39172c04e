"""The generalization lattice: its cheapest allowed node, exact within its time, else the best with a bound.

What a node says about others prunes the search. Where a missing value could be anything, rows hide among all
that they could be.
"""

from __future__ import annotations

import heapq
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.classes import (
    SUPPRESSED,
    ClassTable,
    TableShelf,
    bottom_table,
    class_of,
    histogram_of,
    roll_up,
    whole_distribution,
)
from discreet.anonymize.costs import CostModel, Discernibility, NodeView
from discreet.anonymize.groups import Groups, packed
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.anonymize.privacy_models import Conditions
from discreet.base.arrays import Bits, Integers
from discreet.base.display import Progress, silent
from discreet.errors import InvalidInput

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


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What was learned at one node.

    `hopeless` says that no finer node is allowed either; no coarser node costs less than `bound`.
    `cost` is infinite where the node is not allowed; `tie` (its discernibility) decides between
    nodes of equal cost.
    """

    levels: tuple[int, ...]
    allowed: bool
    hopeless: bool
    cost: float
    bound: float
    tie: float
    lost: int
    classes: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """The class of each combination (SUPPRESSED for none), and how many rows each class hides among."""

    klass: Integers
    among: Integers


@dataclass(frozen=True, slots=True)
class Judged:
    """Which classes of a node stay, and how many rows each of them hides among.

    No finer node could keep the `impossible` rows either; no coarser one has more than `most_classes`.
    """

    kept: Bits
    among: Integers
    impossible: int
    most_classes: int


class Evaluator(ABC):
    """Looks at nodes; what a class is hidden among is for each kind of evaluator to say."""

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        smallest: int,
        cost: CostModel,
        *,
        limit: int,
        monotone: bool,
    ) -> None:
        self._ladders = ladders
        self._smallest = smallest
        self._cost = cost
        self._limit = limit
        self._monotone = monotone
        self._total = groups.total
        self._bottom = bottom_table(groups, len(ladders))
        self._shelf = TableShelf(self._bottom, ladders)

    def assign(self, levels: Sequence[int]) -> Assigned:
        """Return the classes of a node."""
        found = self._judge(roll_up(self._bottom, self._ladders, levels))
        klass = class_of(self._bottom, self._ladders, levels)
        return Assigned(np.where(found.kept[klass], klass, SUPPRESSED), found.among[found.kept])

    def evaluate(self, levels: Sequence[int]) -> NodeResult:
        """Return what a node tells."""
        table = self._shelf.reach(levels)
        found = self._judge(table)
        view = NodeView(
            levels=table.levels,
            total=self._total,
            smallest=self._smallest,
            rows=table.rows,
            sizes=found.among,
            kept=found.kept,
            codes=table.codes,
            most_classes=found.most_classes,
        )
        allowed = view.lost <= self._limit
        return NodeResult(
            levels=view.levels,
            allowed=allowed,
            hopeless=not allowed and (self._monotone or found.impossible > self._limit),
            cost=self._cost.of(view) if allowed else math.inf,
            bound=self._cost.bound(view),
            tie=Discernibility().of(view) if allowed else math.inf,
            lost=view.lost,
            classes=int(view.kept.sum()),
        )

    @abstractmethod
    def _judge(self, table: ClassTable) -> Judged:
        """Return which classes of a node are kept."""


class ClassEvaluator(Evaluator):
    """Looks at nodes where rows with equal labels form a class (missing is a value of its own)."""

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        conditions: Conditions,
        cost: CostModel,
        *,
        limit: int,
    ) -> None:
        # With no row to spare, one class that fails cannot come from classes that all pass.
        monotone = conditions.superset_closed or limit == 0
        super().__init__(groups, ladders, conditions.smallest, cost, limit=limit, monotone=monotone)
        self._conditions = conditions
        self._whole = whole_distribution(groups)

    def _judge(self, table: ClassTable) -> Judged:
        kept = table.rows >= self._smallest
        impossible = few = int(table.rows[~kept].sum())
        most = int(np.count_nonzero(kept)) + few // self._smallest
        if self._conditions.needs_sensitive and few <= self._limit:
            verdict = self._conditions.judge(table.rows, histogram_of(table, self._whole))
            kept, impossible = verdict.kept, int(table.rows[~verdict.possible].sum())
        return Judged(kept, table.rows, impossible, most)


_MOST_PATTERNS = 64


class MatchingEvaluator(Evaluator):
    """Looks at nodes where two rows match if each column is equal or missing in one of them.

    Matching is not transitive, so a row is counted by itself: it stays if at least k rows that
    stay match it. The largest set of rows for which that holds is kept.
    """

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        k: int,
        cost: CostModel,
        *,
        limit: int,
    ) -> None:
        _check_labels(groups, ladders)
        # Whatever is kept is kept at every coarser node too.
        super().__init__(groups, ladders, k, cost, limit=limit, monotone=True)
        self._absent = [
            values.index(None) if None in values else len(values) for values in groups.values
        ]

    def _judge(self, table: ClassTable) -> Judged:
        columns, sizes, blank = self._labels(table)
        kept = np.ones(table.size, dtype=bool)
        while True:
            rows = np.where(kept, table.rows, 0)
            among = matching_rows(columns, sizes, blank, rows)
            still = kept & (among >= self._smallest)
            if bool((still == kept).all()):
                return Judged(kept, np.where(kept, among, 0), 0, table.size)
            kept = still

    def _labels(self, table: ClassTable) -> tuple[list[Integers], list[int], list[Bits]]:
        columns, sizes, blank = [], [], []
        for place, level in enumerate(table.levels):
            rung = self._ladders[place].rungs[level]
            if rung.size > 1:  # a column that says nothing matches anyway
                columns.append(rung.codes[table.codes[place]])
                sizes.append(rung.size)
                blank.append(table.codes[place] == self._absent[place])
        return columns, sizes, blank


def matching_rows(
    columns: Sequence[Integers], sizes: Sequence[int], blank: Sequence[Bits], rows: Integers
) -> Integers:
    """Return for each class the rows that match it: equal, or missing in one, in each column.

    Goes by pairs of patterns of missing cells.
    """
    pattern = np.zeros(len(rows), dtype=np.int64)
    if blank:
        pattern = packed([mark.astype(np.int64) for mark in blank], [2] * len(blank))[0]
    kinds = [np.flatnonzero(pattern == kind) for kind in np.unique(pattern)]
    if len(kinds) > _MOST_PATTERNS:
        raise InvalidInput(
            "Values are missing in too many different combinations of columns to match them all.",
            hint="Let missing be a value of its own, or use fewer quasi-identifiers.",
        )
    found = np.zeros(len(rows), dtype=np.int64)
    for mine in kinds:
        for theirs in kinds:
            shown = [
                place
                for place, mark in enumerate(blank)
                if not mark[mine[0]] and not mark[theirs[0]]
            ]
            both = np.concatenate([mine, theirs])
            if shown:
                key, _ = packed(
                    [columns[place][both] for place in shown], [sizes[place] for place in shown]
                )
            else:
                key = np.zeros(len(both), dtype=np.int64)
            _, number = np.unique(key, return_inverse=True)
            sums = np.bincount(
                number[len(mine) :], weights=rows[theirs], minlength=int(number.max()) + 1
            )
            found[mine] += sums[number[: len(mine)]].astype(np.int64)
    return found


def _check_labels(groups: Groups, ladders: Sequence[ColumnLevels]) -> None:
    """Refuse hierarchies that turn missing values into something, except at a level of one label."""
    for values, ladder in zip(groups.values, ladders, strict=True):
        if None not in values:
            continue
        absent = values.index(None)
        for rung in ladder.rungs:
            if rung.size > 1 and np.count_nonzero(rung.codes == rung.codes[absent]) > 1:
                raise InvalidInput(
                    f"The hierarchy of '{ladder.column}' gives missing values a label that others "
                    "have too, so they cannot match everything.",
                    hint="Leave out the line of the empty value, or let missing be a value.",
                )
