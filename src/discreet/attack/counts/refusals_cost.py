"""What exact query auditing costs: a search for a second database that gives the same answers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Bits


@dataclass(frozen=True, slots=True)
class AuditingCost:
    """Work of one audit: search steps and seconds for so many people."""

    people: int
    steps: float
    seconds: float


class DatabaseSearch:
    """Looks for a database with given sums over given sets, counting its steps.

    Depth first, cutting a branch as soon as a sum is passed or can no longer be reached.
    """

    def __init__(self, queries: Bits) -> None:
        self.steps = 0
        self._people = int(queries.shape[1])
        # For each person the sums that they are in; for each sum how many people are still to come.
        self._sums = [np.flatnonzero(queries[:, person]).tolist() for person in range(self._people)]
        after = queries[:, ::-1].cumsum(1)[:, ::-1]
        self._after = np.hstack([after, np.zeros((len(queries), 1), dtype=after.dtype)]).tolist()

    def find(self, answers: Sequence[int], *, person: int, bit: int) -> list[int] | None:
        """Return a database with these answers in which `person` has `bit`, or None."""
        left = [int(answer) for answer in answers]
        chosen: list[int] = []
        return chosen if self._extend(left, chosen, person, bit) else None

    def _extend(self, left: list[int], chosen: list[int], person: int, bit: int) -> bool:
        self.steps += 1
        place = len(chosen)
        for wanted, after in zip(left, self._after, strict=True):
            if wanted < 0 or wanted > after[place]:
                return False
        if place == self._people:
            return True
        for value in (bit,) if place == person else (0, 1):
            chosen.append(value)
            rest = left.copy()
            if value:
                for i in self._sums[place]:
                    rest[i] -= 1
            if self._extend(rest, chosen, person, bit):
                return True
            chosen.pop()
        return False


def undetermined(queries: Bits, secret: Bits, search: DatabaseSearch) -> list[int]:
    """Return the people whose bit the answers leave open: the auditor's question, decided exactly."""
    truth = secret.astype(int).tolist()
    answers = (queries @ secret.astype(int)).tolist()
    open_people: set[int] = set()
    for person in range(len(truth)):
        if person in open_people:
            continue
        other = search.find(answers, person=person, bit=1 - truth[person])
        if other is not None:
            # One other database settles everybody in whom it differs.
            open_people |= {i for i, bit in enumerate(other) if bit != truth[i]}
    return sorted(open_people)


def hard_queries(people: int, rng: np.random.Generator) -> Bits:
    """Return as many random sets as just about determine everybody: where auditing is hardest."""
    # A sum over half of n people says about log2(sqrt(pi n / 2)) bits of the n that are secret.
    each = 0.5 * math.log2(math.pi * people / 2)
    return np.asarray(rng.random((max(round(people / each), 1), people)) < 0.5)


def measured(people: int, rng: np.random.Generator, *, repeats: int) -> AuditingCost:
    """Return the mean work of exact audits of `people` people on hard instances."""
    steps, began = 0, time.perf_counter()
    for _ in range(repeats):
        queries = hard_queries(people, rng)
        search = DatabaseSearch(queries)
        undetermined(queries, np.asarray(rng.random(people) < 0.5), search)
        steps += search.steps
    return AuditingCost(people, steps / repeats, (time.perf_counter() - began) / repeats)


def doubling(costs: Sequence[AuditingCost]) -> float:
    """Return after how many more people the work doubles, from a straight line through its log."""
    people = np.array([cost.people for cost in costs], dtype=np.float64)
    work = np.log2([cost.steps for cost in costs])
    slope = float(np.polyfit(people, work, 1)[0])
    return 1 / slope if slope > 0 else math.inf
