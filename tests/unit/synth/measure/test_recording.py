"""The recording door is the same door, with a memory of what it let out."""

from fractions import Fraction

import numpy as np

from discreet.synth.measure.memory import MemoryCounter
from discreet.synth.measure.private_marginals import MarginalBudget, PrivateMarginals, Unit
from discreet.synth.measure.recording import RecordingMarginals
from discreet.testing import SeededRng
from synth_kit import random_codes, shape_of


def test_it_remembers_and_changes_nothing():
    shape = shape_of(3, 4)
    counter = MemoryCounter(random_codes(np.random.default_rng(1), shape, 50), shape)
    doors = [
        kind(counter, shape, MarginalBudget(Fraction(1), concentrated=True), Unit(), SeededRng(4))
        for kind in (PrivateMarginals, RecordingMarginals)
    ]
    found = [door.measure([(0,), (0, 1)], share=Fraction(1, 2)) for door in doors]
    for one, two in zip(*found, strict=True):
        assert (one.values == two.values).all()
        assert one.law == two.law
    assert [item.columns for item in doors[1].measured] == [(0,), (0, 1)]
    assert doors[0].events == doors[1].events
