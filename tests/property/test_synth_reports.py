"""Reports of odd tables: one column, one value, one row, no rows at all; never a crash or a warning."""

from __future__ import annotations

import json

import numpy as np
import pytest

from discreet.base.schema import IntegerDomain
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import PrivateMarginals
from discreet.measure.sealing import MemoryCounter
from discreet.show import to_fragment, to_json
from discreet.testing import SeededRng
from discreet.work.synth.methods.registry import METHODS
from discreet.work.synth.report.make_reports import owner_report
from discreet.work.synth.report.publishable import Subject, publishable_report
from sittings import FULL
from synth_kit import BUDGETS, neighbours

TABLES = 6 if FULL else 2


class Book:
    def record_look(self, *_facts, **_more):
        pass


def subject_of(name, codes, shape, unit, budget, rows):
    marginals = PrivateMarginals(MemoryCounter(codes, shape), shape, budget, unit, SeededRng(1))
    model = METHODS[name].fit(marginals)

    def refit(counter):
        return METHODS[name].fit(PrivateMarginals(counter, shape, budget, unit, SeededRng(2)))

    columns = tuple(
        Coded(column, IntegerDomain(0, size - 1 or 1)) if size > 1 else _single(column)
        for column, size in zip(shape.names, shape.sizes, strict=True)
    )
    drawn = model.sample(rows, dice=np.random.default_rng(3))
    return Subject(
        "t", name, "", Encoding("t", columns), model, drawn, tuple(marginals.measured), (), refit
    )


def _single(column):
    return Coded(column, IntegerDomain(0, 0))


@pytest.mark.parametrize("name", ["tree", "independent", "correlated"])
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_reports_stand_for_any_table(name, rows):
    rng = np.random.default_rng(rows)
    for i in range(TABLES):
        shape, codes, _, unit = neighbours(rng)
        budget = list(BUDGETS.values())[i % 2]
        subject = subject_of(name, codes, shape, unit, budget, rows)
        published = publishable_report(subject)
        counter = MemoryCounter(codes, shape)
        compared = owner_report(subject, lambda _, c=counter: c, ledger=Book(), dataset="d")
        for document in (published, compared):
            json.dumps(to_json(document), allow_nan=False)
        if i == 0:
            assert to_fragment(compared).count("Do not publish") > 1
