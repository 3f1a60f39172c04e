"""The measures of one comparison: nothing apart from itself, and dependence lost is seen."""

import numpy as np
import pytest

from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.report.quality import compare, dependence
from quality_kit import SHAPE, people, subject_of


def lens():
    return subject_of(people()).lens()


def counter(codes):
    return MemoryCounter(codes, SHAPE)


def shuffled(codes):
    dice = np.random.default_rng(0)
    return np.stack([dice.permutation(codes[:, i]) for i in range(codes.shape[1])], axis=1)


def test_a_table_is_not_apart_from_itself():
    found = compare(counter(people()), counter(people()), lens())
    assert all(each.tvd == 0 for each in (*found.ones, *found.pairs, *found.triples))
    assert found.coefficients.worst == 0
    assert found.prediction.from_first == found.prediction.from_second
    assert found.invented == 0


def test_lost_dependence_is_seen_by_every_measure_but_the_single_columns():
    codes = people()
    found = compare(counter(codes), counter(shuffled(codes)), lens())
    assert all(each.tvd == 0 for each in found.ones)
    assert found.pairs[1].tvd > 0.3
    assert found.triples[0].tvd > 0.3
    assert found.coefficients.worst > 0.3
    assert found.prediction.from_second < found.prediction.from_first - 0.2
    real, synthetic = found.dependence
    assert real[0, 2] > 0.7
    assert synthetic[0, 2] < 0.1


def test_the_target_can_be_named():
    found = compare(counter(people()), counter(people()), subject_of(people()).lens("town"))
    assert found.prediction.target == "town"


def test_dependence_alone_is_the_same():
    one = dependence(counter(people()), lens())
    other = compare(counter(people()), counter(people()), lens()).dependence[0]
    assert one == pytest.approx(other, nan_ok=True)
