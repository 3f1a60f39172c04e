"""One node of the lattice: whether it is allowed, what it costs, what it says about others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.anonymize.class_labels import SUPPRESSED
from discreet.anonymize.criteria.models import Conditions
from discreet.anonymize.groups import Groups, Integers, Mask
from discreet.anonymize.hierarchy.column_levels import Ladder
from discreet.anonymize.search.classes import (
    ClassTable,
    TableShelf,
    bottom_table,
    class_of,
    histogram_of,
    roll_up,
    whole_distribution,
)
from discreet.anonymize.search.costs import CostModel, Discernibility, View


@dataclass(frozen=True, slots=True)
class Look:
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

    @classmethod
    def of(cls, view: View, cost: CostModel, *, allowed: bool, hopeless: bool) -> Look:
        """Return what a node tells whose classes are known."""
        return cls(
            levels=view.levels,
            allowed=allowed,
            hopeless=hopeless,
            cost=cost.of(view) if allowed else math.inf,
            bound=cost.bound(view),
            tie=Discernibility().of(view) if allowed else math.inf,
            lost=view.lost,
            classes=int(view.kept.sum()),
        )


@dataclass(frozen=True, slots=True)
class Assigned:
    """The class of each combination (SUPPRESSED for none), and how many rows each class hides among."""

    klass: Integers
    among: Integers


class Evaluator(Protocol):
    """Looks at nodes."""

    def look(self, levels: Sequence[int]) -> Look:
        """Return what a node tells."""
        ...

    def assign(self, levels: Sequence[int]) -> Assigned:
        """Return the classes of a node."""
        ...


class ClassEvaluator:
    """Looks at nodes where rows with equal labels form a class (missing is a value of its own)."""

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[Ladder],
        conditions: Conditions,
        cost: CostModel,
        *,
        limit: int,
    ) -> None:
        self._ladders = ladders
        self._conditions = conditions
        self._cost = cost
        self._limit = limit
        self._total = groups.total
        self._whole = whole_distribution(groups)
        self._bottom = bottom_table(groups, len(ladders))
        self._shelf = TableShelf(self._bottom, ladders)
        # With no row to spare, one class that fails cannot come from classes that all pass.
        self._monotone = conditions.superset_closed or limit == 0

    def assign(self, levels: Sequence[int]) -> Assigned:
        """Return the classes of a node."""
        table = roll_up(self._bottom, self._ladders, levels)
        kept, _ = self._judge(table)
        klass = class_of(self._bottom, self._ladders, levels)
        return Assigned(np.where(kept[klass], klass, SUPPRESSED), table.rows[kept])

    def look(self, levels: Sequence[int]) -> Look:
        """Return what a node tells."""
        table = self._shelf.reach(levels)
        kept, impossible = self._judge(table)
        view = self._view(table, kept)
        allowed = view.lost <= self._limit
        hopeless = not allowed and (self._monotone or impossible > self._limit)
        return Look.of(view, self._cost, allowed=allowed, hopeless=hopeless)

    def _judge(self, table: ClassTable) -> tuple[Mask, int]:
        """Return which classes stay, and how many rows no finer node could keep either."""
        enough = table.rows >= self._conditions.smallest
        few = int(table.rows[~enough].sum())
        if not self._conditions.needs_sensitive or few > self._limit:
            return enough, few
        verdict = self._conditions.judge(table.rows, histogram_of(table, self._whole))
        return verdict.kept, int(table.rows[~verdict.possible].sum())

    def _view(self, table: ClassTable, kept: Mask) -> View:
        smallest = self._conditions.smallest
        few = table.rows < smallest
        return View(
            levels=table.levels,
            total=self._total,
            smallest=smallest,
            rows=table.rows,
            sizes=table.rows,
            kept=kept,
            codes=table.codes,
            most_classes=int(np.count_nonzero(~few)) + int(table.rows[few].sum()) // smallest,
        )
