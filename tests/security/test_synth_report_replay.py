"""The publishable report on neighbours: with the noise frozen, not one character may change."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import numpy as np
import pytest

from discreet.base.schema import IntegerDomain
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import whole
from discreet.show import to_json
from discreet.testing import SeededRng
from discreet.work.synth.methods.registry import METHODS, Method
from discreet.work.synth.report import publishable
from discreet.work.synth.report.publishable import Subject
from sittings import FULL
from synth_kit import CONCENTRATED, TracingMarginals, neighbours

PAIRS = 15 if FULL else 8


def report(name, codes, shape, unit, frozen=None):
    """Return the report as text, and the trace of what passed the door."""
    marginals = TracingMarginals(codes, shape, CONCENTRATED, unit, SeededRng(1), frozen)
    model = METHODS[name].fit(marginals)
    measured = tuple(m for out in marginals.trace.given if isinstance(out, list) for m in out)
    columns = tuple(
        Coded(column, IntegerDomain(0, size - 1))
        for column, size in zip(shape.names, shape.sizes, strict=True)
    )
    drawn = model.sample(30, dice=np.random.default_rng(2))
    subject = Subject("t", name, "", Encoding("t", columns), model, drawn, measured)
    document = publishable.publishable_report(subject)
    return json.dumps(to_json(document), default=float), marginals.trace


def differing(name, seed):
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(PAIRS):
        shape, codes, beside, unit = neighbours(rng)
        first, trace = report(name, codes, shape, unit)
        second, _ = report(name, beside, shape, unit, trace)
        found += first != second
    return found


@pytest.mark.parametrize("name", ["tree", "independent", "correlated"])
def test_a_neighbour_changes_no_character_of_the_report(name):
    assert differing(name, seed=31) == 0


def test_a_report_that_looks_is_caught(monkeypatch):
    """A twin whose report leaves out tables by the exact number of rows."""
    right = METHODS["independent"].fit

    def peeking(marginals):
        model = right(marginals)
        exact = marginals._peek([(0,)])[0]
        monkeypatch.setattr(publishable, "whole", lambda m, s: whole(m, s)[: int(exact.sum() % 3)])
        return model

    home = ModuleType("peeking_method")
    monkeypatch.setattr(home, "fit", peeking, raising=False)
    monkeypatch.setitem(sys.modules, home.__name__, home)
    monkeypatch.setitem(METHODS, "peeking", Method(home.__name__, "peeks"))
    assert differing("peeking", seed=32) > 0
