"""Small tables of codes, doors to them, and a door that records and replays."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.base.unit import Neighbours
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    Measured,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape, merge_counts
from discreet.testing import SeededRng
from discreet.work.synth.methods.registry import METHODS

CONCENTRATED = MarginalBudget(Fraction(1, 2), concentrated=True)
PURE = MarginalBudget(Fraction(2), concentrated=False)
BUDGETS = {"zcdp": CONCENTRATED, "pure": PURE}

OPTIONS: dict[str, dict[str, Any]] = {
    "rap": {"rounds": 3, "queries": 4, "relaxed_rows": 20, "steps": 60},
}
"""Options that make a method fit for tiny tables: for those that would take seconds otherwise."""


EVERY_METHOD = [
    pytest.param(name, marks=pytest.mark.jax) if method.needs else name
    for name, method in METHODS.items()
]
"""For tests that fit every method."""


def shape_of(*sizes: int) -> Shape:
    return Shape(tuple(f"c{i}" for i in range(len(sizes))), tuple(sizes))


def random_codes(rng: np.random.Generator, shape: Shape, rows: int) -> np.ndarray:
    """Return codes in which neighbouring columns depend on each other, and some codes are rare."""
    codes = np.zeros((rows, shape.width), dtype=np.int32)
    last = rng.random(rows)
    for column, size in enumerate(shape.sizes):
        last = np.where(rng.random(rows) < 0.6, last, rng.random(rows))
        codes[:, column] = (last**2 * size).astype(np.int32)
    return codes


def marginals_of(codes, shape, *, budget=CONCENTRATED, unit=None, seed=0) -> PrivateMarginals:
    return PrivateMarginals(
        MemoryCounter(codes, shape), shape, budget, unit or CountSensitivity(), SeededRng(seed)
    )


@dataclass
class Trace:
    """What passed a door: requests, exact numbers behind them, and what came out."""

    asked: list[tuple] = field(default_factory=list)
    exact: list[np.ndarray] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)


class Locked:
    """A counter that answers only while the door holds it open."""

    def __init__(self, counter: MemoryCounter) -> None:
        self._counter = counter
        self.open = False

    def marginals(self, wanted):
        assert self.open, "the counter was read outside the door"
        return self._counter.marginals(wanted)


class Diverged(Exception):
    """The replay asked for something that the recording had not."""


class TracingMarginals(PrivateMarginals):
    """Records what passes or, with the trace of another run, gives out the same again."""

    def __init__(self, codes, shape, budget, unit, rng, frozen: Trace | None = None) -> None:
        self._locked = Locked(MemoryCounter(codes, shape))
        super().__init__(self._locked, shape, budget, unit, rng)
        self.trace = Trace()
        self._frozen = frozen

    def measure(self, wanted, *, share, merged=None):
        groups = {c: g.tolist() for c, g in (merged or {}).items()}
        exact = [
            merge_counts(full, columns, merged or {})
            for columns, full in zip(wanted, self._peek(wanted), strict=True)
        ]
        self._note(("measure", tuple(wanted), share, repr(groups)), exact)
        return self._pass(
            lambda: super(TracingMarginals, self).measure(wanted, share=share, merged=merged)
        )

    def choose(self, scores, *, sensitivity, share):
        self._locked.open = True
        found = np.asarray(scores(self._locked))
        self._locked.open = False
        self._note(("choose", sensitivity, share, found.shape), [found])
        return self._pass(
            lambda: super(TracingMarginals, self).choose(
                scores, sensitivity=sensitivity, share=share
            )
        )

    def choose_several(self, scores, *, count, sensitivity, share):
        self._locked.open = True
        found = np.asarray(scores(self._locked))
        self._locked.open = False
        self._note(("choose", sensitivity, share, found.shape, count), [found])
        return self._pass(
            lambda: super(TracingMarginals, self).choose_several(
                scores, count=count, sensitivity=sensitivity, share=share
            )
        )

    def _peek(self, wanted):
        self._locked.open = True
        found = self._locked.marginals(wanted)
        self._locked.open = False
        return found

    def _note(self, asked, exact) -> None:
        self.trace.asked.append(asked)
        self.trace.exact.append(exact)
        if self._frozen is not None:
            position = len(self.trace.asked) - 1
            if self._frozen.asked[position : position + 1] != [asked]:
                raise Diverged(asked)

    def _pass(self, draw):
        self._locked.open = True
        out = draw()
        self._locked.open = False
        if self._frozen is not None:
            out = self._frozen.given[len(self.trace.given)]
        self.trace.given.append(_copied(out))
        return out


def _copied(out):
    if isinstance(out, list) and all(isinstance(each, Measured) for each in out):
        return [Measured(each.columns, each.values.copy(), each.law, each.merged) for each in out]
    return out


def violations(fit, codes, beside, shape, budget, unit, seed) -> list[str]:
    """Return how a method's run on a neighbour differs, all noisy outcomes being the same."""
    first = TracingMarginals(codes, shape, budget, unit, SeededRng(seed))
    try:
        model = fit(first)
        second = TracingMarginals(beside, shape, budget, unit, SeededRng(seed + 1), first.trace)
        again = fit(second)
    except Diverged:
        return ["another request"]
    except AssertionError as error:
        return [str(error)]
    found = []
    if len(first.trace.asked) != len(second.trace.asked):
        found.append("fewer requests")
    for asked, one, two in zip(
        second.trace.asked, first.trace.exact, second.trace.exact, strict=False
    ):
        moved = [
            np.abs(a.astype(np.int64) - b.astype(np.int64)) for a, b in zip(one, two, strict=True)
        ]
        if asked[0] == "choose" and moved[0].max(initial=0) > asked[1] * unit.l1:
            found.append("a score moved too far")
        if asked[0] == "measure" and any(
            each.sum() > unit.l1 or (each**2).sum() > unit.l2_squared for each in moved
        ):
            found.append("a marginal moved too far")
    if model.to_json() != again.to_json():
        found.append("another model")
    if first.left < 0 or first.left != second.left:
        found.append("another price")
    return found


def neighbours(rng: np.random.Generator):
    """Return a shape, a table, a neighbour and the unit that makes them neighbours."""
    shape = shape_of(*(int(rng.integers(1, 6)) for _ in range(rng.integers(1, 5))))
    rows = int(rng.choice([1, 2, 5, 20, 60]))
    codes = random_codes(rng, shape, rows)
    unit = CountSensitivity(int(rng.integers(1, 4)), list(Neighbours)[rng.integers(2)])
    leaving = rng.choice(rows, min(rows, int(rng.integers(1, unit.rows + 1))), replace=False)
    beside = np.delete(codes, leaving, axis=0)
    if unit.neighbours is Neighbours.REPLACE_ONE:
        coming = random_codes(rng, shape, int(rng.integers(0, unit.rows + 1)))
        beside = np.concatenate([beside, coming])
    return shape, codes, beside, unit
