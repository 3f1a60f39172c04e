"""A small table with known dependence, and two small methods, for tests of reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.base.schema import BooleanDomain, CategoryDomain, IntegerDomain
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter
from discreet.testing import SeededRng
from discreet.work.synth.report.publishable import Subject

ENCODING = Encoding(
    "people",
    (
        Coded("age", IntegerDomain(0, 9), missing=True),
        Coded("town", CategoryDomain(("north", "south", "east", "west"))),
        Coded("rich", BooleanDomain()),
    ),
)
SHAPE = ENCODING.shape


def people(rows=5000, seed=1):
    """Return codes in which the old are rich and live in the north."""
    dice = np.random.default_rng(seed)
    age = dice.integers(0, 11, rows)
    rich = dice.random(rows) < np.where(age > 6, 0.9, 0.1)
    town = np.where(dice.random(rows) < 0.7, rich * 1, dice.integers(0, 4, rows))
    return np.stack([age, town, rich * 1], axis=1).astype(np.int32)


class Joint:
    """A model that is one table of counts over all columns: sampled by its cells."""

    def __init__(self, counts):
        self.counts = np.maximum(np.asarray(counts, dtype=float), 0)
        if self.counts.sum() == 0:
            self.counts += 1
        self.shape = SHAPE

    @property
    def total(self):
        return float(self.counts.sum())

    def marginal(self, columns):
        others = tuple(i for i in range(SHAPE.width) if i not in columns)
        return self.counts.sum(axis=others)

    def sample(self, rows, *, dice, given=None):
        assert given is None
        cells = dice.choice(self.counts.size, rows, p=self.counts.ravel() / self.total)
        return np.stack(np.unravel_index(cells, SHAPE.sizes), axis=1).astype(np.int32)

    def to_json(self):
        return {"kind": "joint"}


def fit_joint(marginals, progress=lambda *_: None):
    """Measure the table of all columns."""
    progress(0, 1, "measuring")
    return Joint(marginals.measure([(0, 1, 2)], share=Fraction(1))[0].values)


def fit_singles(marginals, progress=lambda *_: None):
    """Measure each column by itself: loses all dependence."""
    progress(0, 1, "measuring")
    found = marginals.measure([(0,), (1,), (2,)], share=Fraction(1))
    parts = [
        np.maximum(each.values, 0) / max(np.maximum(each.values, 0).sum(), 1) for each in found
    ]
    total = max(float(np.mean([each.values.sum() for each in found])), 1.0)
    return Joint(total * np.einsum("i,j,k->ijk", *parts))


def marginals_of(codes, *, rho=Fraction(1, 2), seed=3, concentrated=True):
    """Return a door to rows in memory."""
    budget = MarginalBudget(rho, concentrated)
    return PrivateMarginals(
        MemoryCounter(codes, SHAPE), SHAPE, budget, CountSensitivity(), SeededRng(seed)
    )


class Recorded(PrivateMarginals):
    """A door that keeps what it let out."""

    def measure(self, wanted, **options):
        found = super().measure(wanted, **options)
        self.__dict__.setdefault("measured", []).extend(found)
        return found


def subject_of(codes, *, fit=fit_joint, rho=Fraction(1, 2), rows=None, seed=3, refit=True):
    """Return a finished synthesis of `codes`, as reports get it."""
    budget = MarginalBudget(rho, concentrated=True)

    def run(counter):
        return fit(
            PrivateMarginals(counter, SHAPE, budget, CountSensitivity(), SeededRng(seed + 1))
        )

    marginals = Recorded(
        MemoryCounter(codes, SHAPE), SHAPE, budget, CountSensitivity(), SeededRng(seed)
    )
    model = fit(marginals)
    drawn = model.sample(rows or len(codes), dice=np.random.default_rng(seed))
    return Subject(
        "people",
        fit.__name__,
        "epsilon 1 of the budget",
        ENCODING,
        model,
        drawn,
        tuple(marginals.measured),
        ("Column 'note' is free text and was left out.",),
        run if refit else None,
    )
